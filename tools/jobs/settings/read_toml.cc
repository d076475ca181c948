#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/support/text.h"
#include "tools/jobs/settings/sections.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/settings/toml_file.h"

namespace ort_ed {
namespace {

using Names = std::vector<std::string>;

template <typename T>
T Exactly(const toml::node& node, const char* expected) {
  if (const auto value = node.value<T>(); value && (node.is<T>() || std::is_same_v<T, double>)) return *value;
  throw std::invalid_argument(fmt::format("must be {}", expected));
}

template <typename T>
std::vector<T> List(const toml::node& node, const char* expected) {
  std::vector<T> values;
  for (const toml::node& element : *node.as_array()) values.push_back(Exactly<T>(element, expected));
  return values;
}

// In the type of the option; text only where the option is text, or where it is a list written "1,2".
OptionValue GetValue(const toml::node& node, OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return Exactly<bool>(node, "true or false");
    case OptionType::kInteger:
      return Exactly<int64_t>(node, "a whole number");
    case OptionType::kNumber:
      return Exactly<double>(node, "a number");
    case OptionType::kPeriod:
      if (node.is_integer()) return *node.value<int64_t>();
      return Exactly<std::string>(node, "a number of steps or a time in quotes, such as \"60s\"");
    case OptionType::kIntegers:
      if (node.is_string()) return *node.value<std::string>();
      if (node.is_array()) return List<int64_t>(node, "a list of whole numbers");
      return Exactly<int64_t>(node, "a whole number or a list of them");
    case OptionType::kNumbers:
      if (node.is_string()) return *node.value<std::string>();
      if (node.is_array()) return List<double>(node, "a list of numbers");
      return Exactly<double>(node, "a number or a list of them");
    case OptionType::kTexts:
      if (node.is_integer()) return std::vector{FormatOption(*node.value<int64_t>())};  // columns = 784
      if (!node.is_array()) throw std::invalid_argument("must be a list of texts, such as [\"a*\", \"b\"]");
      return List<std::string>(node, "a list of texts in quotes");
    case OptionType::kText:
    case OptionType::kChoice:
      break;
  }
  return Exactly<std::string>(node, "text in quotes");
}

// A scalar of any type as text: in tables of a kind's options numbers may stand in quotes or not.
OptionValue Scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return FormatOption(flag->get());
  if (const auto* integer = node.as_integer()) return FormatOption(int64_t{integer->get()});
  if (const auto* number = node.as_floating_point()) return FormatOption(number->get());
  throw std::invalid_argument("must be text or a number");
}

class Reader {
 public:
  Reader(const std::string& path, const Schema& schema, GivenOptions& given)
      : path_(path), options_(FileOptions(schema)), given_(given) {}

  void Read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const toml::table* section = node.as_table();
      if (node.is_array_of_tables() && Contains(Sections(), std::string(key.str())))
        Fail(key.source(), fmt::format("write [{0}]: [[{0}]] is a list of sections", key.str()));
      if (section == nullptr || !Contains(Sections(), std::string(key.str())))
        Fail(key.source(),
             fmt::format("unknown {} '{}'; the sections are {}", section ? "section" : "top-level key",
                         key.str(), Join(Sections(), ", ")));
      for (const auto& [name, value] : *section) ReadEntry(std::string(key.str()), name, value);
    }
  }

 private:
  static bool Contains(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  Names Sections() const {
    Names names;
    for (const FileOption& option : options_)
      if (!option.section.empty() && !Contains(names, option.section)) names.push_back(option.section);
    return names;
  }

  [[noreturn]] void Fail(const toml::source_region& source, const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path_, source.begin.line, reason));
  }

  void ReadEntry(const std::string& section, const toml::key& key, const toml::node& node) {
    const std::string name(key.str());
    const bool is_table = std::ranges::any_of(options_, [&](const FileOption& option) {
      return option.section == section && option.table == name;
    });
    if (is_table) return ReadTable(section, key, node);
    const FileOption& option = Find(section, "", key);
    Add(name, key, [&] { return GetValue(node, option.visible.option->type); });
  }

  void ReadTable(const std::string& section, const toml::key& key, const toml::node& node) {
    const std::string table(key.str());
    if (!node.is_table())
      Fail(key.source(), fmt::format("{} must be a table, such as {{ hidden = \"256,256\" }}", table));
    for (const auto& [name, value] : *node.as_table()) {
      Find(section, table, name);
      Add(std::string(name.str()), name, [&, &element = value] { return Scalar(element); });
    }
  }

  // Lists the candidates, or names the section the key belongs to.
  const FileOption& Find(const std::string& section, const std::string& table, const toml::key& key) const {
    const std::string name(key.str());
    Names candidates;
    for (const FileOption& option : options_) {
      const bool here = option.section == section && option.table == table;
      const bool named = option.visible.key == name || Contains(option.visible.option->old_keys, name);
      if (named && here) return option;
      if (named && !option.section.empty() && option.table == table)
        Fail(key.source(), fmt::format("'{}' belongs into the section [{}]", name, option.section));
      if (here) candidates.push_back(option.visible.key);
    }
    Fail(key.source(), fmt::format("unknown key '{}'; [{}] has {}", name, table.empty() ? section : table,
                                   Join(candidates, ", ")));
  }

  template <typename Value>
  void Add(const std::string& name, const toml::key& key, const Value& value) {
    try {
      given_.Add(name, value(), fmt::format("{}:{}", path_, key.source().begin.line));
    } catch (const std::invalid_argument& error) {
      Fail(key.source(), fmt::format("{} {}", name, error.what()));
    }
  }

  const std::string& path_;
  std::vector<FileOption> options_;
  GivenOptions& given_;
};

}  // namespace

void ReadToml(const std::string& path, const Schema& schema, GivenOptions& given) {
  if (std::filesystem::is_directory(path))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the configuration '{0}' is a folder; that of a run is '{0}/config.toml'", path));
  Reader(path, schema, given).Read(ParseTomlFile(path, "configuration"));
  given.AllowDefaultsFrom(path + ":");
}

}  // namespace ort_ed
