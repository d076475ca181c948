#include "models/architectures/architecture_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {

ArchitectureOptions::ArchitectureOptions(const Architecture& architecture,
                                         const std::map<std::string, std::string>& given)
    : architecture_(architecture.name) {
  for (const OptionDescription& option : architecture.options) values_[option.name] = option.default_value;
  for (const auto& [name, value] : given) {
    const auto known = values_.find(name);
    if (known == values_.end()) {
      std::vector<std::string> names;
      for (const OptionDescription& option : architecture.options) names.emplace_back(option.name);
      throw Error(ErrorCode::kInvalidArgument, std::string(architecture_) + " has no option '" + name +
                                                   "'; its options are " + Join(names, ", "));
    }
    known->second = value;
  }
}

const std::string& ArchitectureOptions::Text(const std::string& name) const { return values_.at(name); }

void ArchitectureOptions::Reject(const std::string& name, const std::string& wanted) const {
  throw Error(ErrorCode::kInvalidArgument, "option '" + name + "' of " + architecture_ + " must be " +
                                               wanted + ", not '" + Text(name) + "'");
}

std::string ArchitectureOptions::Choice(const std::string& name,
                                        std::span<const std::string_view> candidates) const {
  if (std::ranges::find(candidates, Text(name)) == candidates.end()) {
    Reject(name, "one of " + Join(std::vector<std::string>(candidates.begin(), candidates.end()), ", "));
  }
  return Text(name);
}

std::vector<int64_t> ArchitectureOptions::Integers(const std::string& name, int64_t minimum) const {
  std::vector<int64_t> values;
  for (const std::string& part : Split(Text(name), ',')) {
    const auto value = ParseInteger(part);
    if (!value || *value < minimum) {
      Reject(name, "whole numbers from " + std::to_string(minimum) + " with commas between them");
    }
    values.push_back(*value);
  }
  return values;
}

int64_t ArchitectureOptions::Integer(const std::string& name, int64_t minimum) const {
  const auto value = ParseInteger(Text(name));
  if (!value || *value < minimum) Reject(name, "a whole number from " + std::to_string(minimum));
  return *value;
}

double ArchitectureOptions::Number(const std::string& name) const {
  const std::string& text = Text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    Reject(name, "a number");
  }
  return value;
}

std::string ArchitectureOptions::ToJson() const {
  std::string json;
  for (const auto& [name, value] : values_) {
    json += json.empty() ? "{" : ",";
    json += JsonString(name) + ":" + JsonString(value);
  }
  return json + "}";
}

}  // namespace ort_ed
