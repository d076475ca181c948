#include <algorithm>

#include <fmt/format.h>

#include "runtime/support/text.h"
#include "tools/jobs/settings/sections.h"
#include "tools/jobs/settings/toml.h"

namespace ort_ed {
namespace {

std::string Quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

template <typename T>
std::string ListText(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string>) {
      texts.push_back(Quoted(value));
    } else {
      texts.push_back(FormatOption(value));
    }
  }
  return "[" + Join(texts, ", ") + "]";
}

std::string TomlValue(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return Quoted(*text);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return ListText(*texts);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    return numbers->size() == 1 ? FormatOption(value) : ListText(*numbers);
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) return ListText(*integers);
  return FormatOption(value);
}

// With the domain, where that says more than what to write.
std::string Explanation(const Option& option) {
  const std::string& domain = option.domain;
  const bool says_more =
      domain.starts_with('[') || domain.starts_with('(') || domain.find('|') != std::string::npos;
  if (!says_more) return option.help;
  return option.help.empty() ? domain : fmt::format("{}; {}", option.help, domain);
}

std::string Line(const std::string& key, const OptionValue& value, const Option& option) {
  const std::string line = fmt::format("{} = {}", key, TomlValue(value));
  const std::string explanation = Explanation(option);
  return explanation.empty() ? line + "\n" : fmt::format("{:<40} # {}\n", line, explanation);
}

// The given options of the chosen kind as an inline table.
std::string TableLine(const Option& option, const Choice& choice) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : choice.options)
    pairs.push_back(fmt::format("{} = {}", name, Quoted(FormatOption(value))));
  return fmt::format("{} = {}\n", option.table,
                     pairs.empty() ? "{}" : fmt::format("{{ {} }}", Join(pairs, ", ")));
}

// The options of the kinds that `choice` may hold, as far as they have values; those of choices among them
// follow each.
std::string KindLines(const std::vector<FileOption>& all, const OptionMap& values, const std::string& choice,
                      const std::string& section) {
  std::string text;
  for (const FileOption& each : all) {
    const VisibleOption& visible = each.visible;
    const auto value = values.find(visible.key);
    const bool has_value = value != values.end() && !std::holds_alternative<Nothing>(value->second);
    if (visible.choice != choice || each.section != section || !each.table.empty() || !has_value) continue;
    text += Line(visible.key, value->second, *visible.option);
    if (visible.option->kinds != nullptr) text += KindLines(all, values, visible.key, section);
  }
  return text;
}

}  // namespace

std::string WriteToml(const Schema& schema, const void* object) {
  const OptionMap values = GetOptions(schema, object);
  const std::vector<FileOption> all = FileOptions(schema);
  std::string text, section;
  for (const Option& option : schema.options) {
    const auto value = values.find(option.key);
    if (value == values.end() || std::holds_alternative<Nothing>(value->second)) continue;
    if (option.section != section) {
      section = option.section;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += Line(option.key, value->second, option);
    if (option.kinds == nullptr) continue;
    if (!option.table.empty()) {
      const auto* choice = reinterpret_cast<const Choice*>(static_cast<const char*>(object) + option.offset);
      text += TableLine(option, *choice);
      continue;
    }
    text += KindLines(all, values, option.key, section);
  }
  return text;
}

}  // namespace ort_ed
