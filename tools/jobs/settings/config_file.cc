#include <filesystem>
#include <stdexcept>

#include <spdlog/fmt/ranges.h>
#include <toml++/toml.h>

#include "ort_ed/error.h"
#include "tools/jobs/settings/setting_value.h"
#include "tools/jobs/train/train_config.h"

namespace ort_ed {
namespace {

std::string SectionNames() {
  Words names;
  for (const Setting& setting : Settings())
    if (names.empty() || names.back() != setting.section) names.emplace_back(setting.section);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool IsSection(std::string_view name) {
  for (const Setting& setting : Settings())
    if (name == setting.section) return true;
  return false;
}

// Throws std::invalid_argument that lists the candidates, or names the section the key belongs to.
const Setting& FindSetting(std::string_view section, std::string_view key) {
  Words candidates;
  for (const Setting& setting : Settings()) {
    if (key == setting.key && section == setting.section) return setting;
    if (key == setting.key)
      throw std::invalid_argument(fmt::format("'{}' belongs into the section [{}]", key, setting.section));
    if (section == setting.section) candidates.emplace_back(setting.key);
  }
  throw std::invalid_argument(
      fmt::format("unknown key '{}'; [{}] has {}", key, section, fmt::join(candidates, ", ")));
}

template <typename T>
T Exactly(const toml::node& node, const char* expected) {
  if (const auto value = node.value<T>(); value && (node.is<T>() || std::is_same_v<T, double>)) return *value;
  throw std::invalid_argument(fmt::format("{} is expected", expected));
}

void Read(const toml::node& node, std::string& value) {
  value = Exactly<std::string>(node, "text in quotes");
}
void Read(const toml::node& node, int64_t& value) { value = Exactly<int64_t>(node, "a whole number"); }
void Read(const toml::node& node, double& value) { value = Exactly<double>(node, "a number"); }
void Read(const toml::node& node, bool& value) { value = Exactly<bool>(node, "true or false"); }

void Read(const toml::node& node, Period& value) {
  if (node.is_integer()) {
    value = {.steps = *node.value<int64_t>(), .seconds = 0};
  } else {
    ParseValue(node.value<std::string>().value_or(""), value);
  }
}

void Read(const toml::node& node, Words& value) {
  const toml::array* array = node.as_array();
  if (array == nullptr) throw std::invalid_argument("a list of texts is expected, such as [\"a*\", \"b\"]");
  value.clear();
  for (const toml::node& element : *array)
    value.push_back(Exactly<std::string>(element, "a list of texts in quotes"));
}

void Read(const toml::node& node, Numbers& value) {
  if (const auto* text = node.as_string()) return ParseValue(text->get(), value);
  value.clear();
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) value.push_back(Exactly<double>(element, "a list of numbers"));
  } else {
    value.push_back(Exactly<double>(node, "a number or a list of them"));
  }
}

void Read(const toml::node& node, Assignments& value) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw std::invalid_argument("a table is expected, such as { hidden = \"256,256\" }");
  value.clear();
  for (const auto& [key, element] : *table) {
    std::string& text = value[std::string(key.str())];
    if (const auto* string = element.as_string()) {
      text = string->get();
    } else if (element.is_integer() || element.is_boolean() || element.is_floating_point()) {
      element.visit([&](const auto& scalar) {
        if constexpr (toml::is_integer<decltype(scalar)> || toml::is_boolean<decltype(scalar)> ||
                      toml::is_floating_point<decltype(scalar)>)
          text = ToTomlValue(scalar.get());
      });
    } else {
      throw std::invalid_argument(fmt::format("text or a number is expected for '{}'", key.str()));
    }
  }
}

class Reader {
 public:
  Reader(const std::string& path, TrainConfig& config) : path_(path), config_(config) {}

  void Sections(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const toml::table* section = node.as_table();
      if (section == nullptr || !IsSection(key.str())) {
        Fail(key.source(), fmt::format("unknown {} '{}'; the sections are {}",
                                       section ? "section" : "top-level key", key.str(), SectionNames()));
      }
      for (const auto& [name, value] : *section) Apply(key.str(), name, value);
    }
  }

 private:
  [[noreturn]] void Fail(const toml::source_region& source, const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path_, source.begin.line, reason));
  }

  void Apply(std::string_view section, const toml::key& key, const toml::node& node) {
    try {
      const Setting& setting = FindSetting(section, key.str());
      config_.origin[setting.key] = fmt::format("{}:{}", path_, key.source().begin.line);
      Assign(setting, node);
    } catch (const std::invalid_argument& error) {
      Fail(key.source(), error.what());
    }
  }

  void Assign(const Setting& setting, const toml::node& node) {
    try {
      std::visit([&](auto member) { Read(node, config_.*member); }, setting.member);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}: {}", setting.key, error.what()));
    }
    try {
      CheckDomain(config_, setting);
    } catch (const std::invalid_argument& error) {
      config_.Reject(setting.key, error.what());
    }
  }

  const std::string& path_;
  TrainConfig& config_;
};

}  // namespace

void ReadConfig(const std::string& path, TrainConfig& config) {
  if (std::filesystem::is_directory(path))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the configuration '{0}' is a folder; that of a run is '{0}/config.toml'", path));
  toml::table root;
  try {
    root = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    if (line == 0)
      throw Error(ErrorCode::kIo,
                  fmt::format("cannot read the configuration '{}': {}", path, error.description()));
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path, line, error.description()));
  }
  TrainConfig changed = config;
  Reader(path, changed).Sections(root);
  config = std::move(changed);
}

}  // namespace ort_ed
