#include "tools/jobs/train/train_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/ranges.h>
#include <zlib.h>

#include "ort_ed/error.h"
#include "runtime/support/text.h"
#include "tools/jobs/settings/setting_value.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

const Setting& FindSetting(const std::string& key) {
  const auto& settings = Settings();
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.key == key; });
  if (found == settings.end()) throw std::logic_error("no setting " + key);
  return *found;
}

std::string ValueText(const TrainConfig& config, const Setting& setting) {
  return std::visit([&](auto member) { return ToTomlValue(config.*member); }, setting.member);
}

// With the domain, where that says more than what to write.
std::string Explanation(const Setting& setting) {
  const bool says_more = setting.domain.starts_with('[') || setting.domain.starts_with('(') ||
                         setting.domain.find('|') != std::string::npos;
  const std::string help = setting.help;
  return !says_more ? help : help.empty() ? setting.domain : fmt::format("{}; {}", help, setting.domain);
}

struct TypeName {
  const char* operator()(std::string TrainConfig::*) const { return "TEXT"; }
  const char* operator()(int64_t TrainConfig::*) const { return "N"; }
  const char* operator()(double TrainConfig::*) const { return "X"; }
  const char* operator()(bool TrainConfig::*) const { return "true|false"; }
  const char* operator()(Period TrainConfig::*) const { return "N|TIME"; }
  const char* operator()(Numbers TrainConfig::*) const { return "X,Y,..."; }
  const char* operator()(Words TrainConfig::*) const { return "A,B,..."; }
  const char* operator()(Assignments TrainConfig::*) const { return "NAME=VALUE"; }
};

bool IsUtf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

bool CanEnumerate(const std::string& method) { return FindPerturbation(method).can_enumerate; }

}  // namespace

std::string Setting::OptionName() const {
  std::string name = std::string("--") + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string Setting::NegatedOptionName() const { return "--no-" + OptionName().substr(2); }

std::string Setting::HelpText() const {
  const std::string value = ValueText(TrainConfig(), *this);
  const bool has_default = value != "\"\"" && value != "[]";
  const std::string text = std::string(help).empty() ? "" : fmt::format("{} ", help);
  return has_default ? fmt::format("{}[default: {}]", text, value) : text;
}

std::string Setting::Metavar() const {
  const bool is_interval = domain.starts_with('[') || domain.starts_with('(');
  return domain.empty() || is_interval ? std::visit(TypeName(), member) : domain;
}

bool Setting::MayChangeOnResume() const {
  const std::string_view name = key;
  return std::string_view(section) == kRunSection || name == "data" || name == "validation";
}

void TrainConfig::Reject(const std::string& key, const std::string& reason) const {
  const auto found = origin.find(key);
  const std::string where = found == origin.end()             ? key
                            : found->second.starts_with("--") ? found->second
                                                              : fmt::format("{}: {}", found->second, key);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} = {}: {}", where, ValueText(*this, FindSetting(key)), reason));
}

void TrainConfig::Validate() const {
  for (const Setting& setting : Settings()) {
    try {
      CheckDomain(*this, setting);
    } catch (const std::invalid_argument& error) {
      Reject(setting.key, error.what());
    }
  }
  if (warmup_steps > steps) Reject("warmup_steps", fmt::format("exceeds steps = {}", steps));
  if (micro_batch > batch_size) Reject("micro_batch", fmt::format("exceeds batch_size = {}", batch_size));
  if (exact && std::ranges::none_of(Methods(), CanEnumerate))
    Reject(
        "exact",
        fmt::format("method = {} cannot enumerate its negatives; grid, neighbourhood and erase can", method));
  if (epsilon.empty()) Reject("epsilon", "a noise level is expected");
  if (!epsilon_end.empty() && epsilon_end.size() != epsilon.size())
    Reject("epsilon_end",
           fmt::format("one value for each of epsilon = {} is expected", ToTomlValue(epsilon)));
  const Words all = {"*"};
  if (l1 == 0 && l1_parameters != all) Reject("l1_parameters", "needs an l1 above 0");
  if (weight_decay == 0 && weight_decay_parameters != all)
    Reject("weight_decay_parameters", "needs a weight_decay above 0");
  if (!freeze_zeros && freeze_zeros_parameters != all)
    Reject("freeze_zeros_parameters", "needs freeze_zeros");
  if (patience > 0 && (validate_every.never() || (validation.empty() && validation_fraction == 0)))
    Reject("patience", "counts validations, and there are none");
  for (const auto& [key, path] :
       {std::pair("data", data), std::pair("validation", validation), std::pair("model", model)})
    if (!IsUtf8(path)) Reject(key, "its name is not UTF-8, which config.toml must be; give it another");
  if (data == "-")
    Reject("data", "training reads its data again when it is resumed; write it to a file first");
}

std::string TrainConfig::ToToml() const {
  std::string text;
  const char* section = "";
  for (const Setting& setting : Settings()) {
    if (std::string_view(section) != setting.section) {
      section = setting.section;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const std::string line = fmt::format("{} = {}", setting.key, ValueText(*this, setting));
    const std::string explanation = Explanation(setting);
    text += explanation.empty() ? line + "\n" : fmt::format("{:<40} # {}\n", line, explanation);
  }
  return text;
}

std::string TrainConfig::Hash() const {
  std::string text;
  for (const Setting& setting : Settings()) {
    if (!setting.MayChangeOnResume())
      text += fmt::format("{} = {}\n", setting.key, ValueText(*this, setting));
  }
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

double TrainConfig::LearningRate(int64_t step) const {
  if (step <= warmup_steps)
    return learning_rate * static_cast<double>(step) / static_cast<double>(warmup_steps);
  if (decay == "constant") return learning_rate;
  // From 0 at the first step after the warm-up to just below 1 at the last: no step is wasted with rate 0.
  const double progress =
      std::min(1.0, static_cast<double>(step - 1 - warmup_steps) / static_cast<double>(steps - warmup_steps));
  const double remaining = decay == "linear" ? 1 - progress : (1 + std::cos(std::numbers::pi * progress)) / 2;
  return learning_rate * (final_rate + (1 - final_rate) * remaining);
}

Numbers TrainConfig::Epsilon(int64_t step) const {
  if (epsilon_end.empty()) return epsilon;
  const double progress =
      steps == 1 ? 0 : std::clamp(static_cast<double>(step - 1) / static_cast<double>(steps - 1), 0.0, 1.0);
  Numbers levels = epsilon;
  for (size_t i = 0; i < levels.size(); ++i) levels[i] *= std::pow(epsilon_end[i] / epsilon[i], progress);
  return levels;
}

Words TrainConfig::Methods() const { return SplitWords(method, '+'); }

bool TrainConfig::OnlyEnumerates() const { return exact && std::ranges::all_of(Methods(), CanEnumerate); }

void SetFromOption(TrainConfig& config, const Setting& setting, const std::string& text) {
  TrainConfig changed = config;
  changed.origin[setting.key] = setting.OptionName();
  try {
    std::visit([&](auto member) { ParseValue(text, changed.*member); }, setting.member);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} = {}: {}", setting.OptionName(), ToTomlValue(text), error.what()));
  }
  try {
    CheckDomain(changed, setting);
  } catch (const std::invalid_argument& error) {
    changed.Reject(setting.key, error.what());
  }
  config = std::move(changed);
}

}  // namespace ort_ed
