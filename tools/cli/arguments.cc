#include "tools/cli/arguments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <argparse/argparse.hpp>
#include <spdlog/fmt/fmt.h>

namespace ort_ed {
namespace {

bool IsInterval(const std::string& domain) { return domain.starts_with('[') || domain.starts_with('('); }

// Files may have commas in their names: an option that takes several is given several times.
bool MayBeRepeated(const Option& option) {
  return option.type == OptionType::kTexts && option.domain == "FILE";
}

// In front of values: argparse takes what begins with a dash for an option.
constexpr char kProtection[] = "\x01";

std::string Unprotected(const std::string& value) { return value.substr(1); }

// The options of a command by the words that name them.
class OptionWords {
 public:
  explicit OptionWords(const Command& command)
      : command_(command),
        visible_(VisibleOptions(command.schema())),
        has_file_(command.schema().Find("config") != nullptr) {
    for (const VisibleOption& each : visible_) {
      if (each.option->positional) continue;
      Add(OptionName(each.key), each);
      for (const std::string& old : each.option->old_keys) Add(OptionName(old), each);
      if (each.option->letter != 0) Add(std::string("-") + each.option->letter, each);
      if (each.option->type == OptionType::kFlag) Add("--no-" + OptionName(each.key).substr(2), each);
    }
  }

  const std::vector<VisibleOption>& visible() const { return visible_; }

  // The words as argparse takes them without a mistake: every value behind its option and, like the
  // positional ones, protected, so that it may begin with a dash. argparse's own words for mistakes tell a
  // user little; those are found here.
  std::vector<std::string> Normalise(const std::vector<std::string>& words) const {
    std::vector<std::string> normal, positional;
    std::set<const VisibleOption*> seen;
    size_t places = 0;
    for (const VisibleOption& each : visible_)
      if (each.option->positional) places = MayBeRepeated(*each.option) ? words.size() : places + 1;
    bool only_places = false;  // behind "--"
    for (size_t i = 0; i < words.size(); ++i) {
      if (!only_places && words[i] == "--") {
        only_places = true;
        continue;
      }
      if (only_places || !words[i].starts_with('-') || words[i].size() == 1) {
        if (places-- == 0) Misuse(fmt::format("'{}' is one argument too many", words[i]));
        positional.push_back(kProtection + words[i]);
        continue;
      }
      const auto [name, value] = CutOff(words[i]);
      const VisibleOption& option = Find(name);
      if (!seen.insert(&option).second && !MayBeRepeated(*option.option))
        Misuse(fmt::format("{} is given twice", OptionName(option.key)));
      normal.push_back(name);
      if (option.option->type == OptionType::kFlag) {
        if (value) Misuse(fmt::format("{} takes no value", name));
        continue;
      }
      if (!value && (i + 1 == words.size() || by_word_.contains(words[i + 1])))
        Misuse(fmt::format("{} needs a value", name));
      normal.push_back(kProtection + (value ? *value : words[++i]));
      if (normal.back() == kProtection && option.option->type == OptionType::kText && !has_file_)
        Misuse(fmt::format("{} needs a value, not an empty one", name));
    }
    normal.insert(normal.end(), positional.begin(), positional.end());
    return normal;
  }

 private:
  void Add(const std::string& word, const VisibleOption& option) { by_word_.emplace(word, &option); }

  [[noreturn]] void Misuse(const std::string& what) const {
    throw UsageError(fmt::format("{} (see `ort-ed {} --help`)", what, command_.name));
  }

  const VisibleOption& Find(const std::string& name) const {
    const auto found = by_word_.find(name);
    if (found == by_word_.end()) RefuseUnknown(name);
    return *found->second;
  }

  // "--steps=5" and "-n5" in their parts.
  std::pair<std::string, std::optional<std::string>> CutOff(const std::string& word) const {
    const size_t equals = word.find('=');
    if (equals != std::string::npos) return {word.substr(0, equals), word.substr(equals + 1)};
    const std::string letter = word.substr(0, 2);
    if (word.size() > 2 && word[1] != '-' && by_word_.contains(letter)) return {letter, word.substr(2)};
    return {word, std::nullopt};
  }

  [[noreturn]] void RefuseUnknown(const std::string& word) const {
    std::string known;
    for (const VisibleOption& each : visible_)
      if (!each.option->positional) known += (known.empty() ? "" : ", ") + OptionName(each.key);
    throw Error(ErrorCode::kInvalidArgument, fmt::format("unknown option '{}'; there are {}", word, known));
  }

  const Command& command_;
  std::vector<VisibleOption> visible_;
  bool has_file_;  // of settings: an empty value takes away what stands there
  std::map<std::string, const VisibleOption*> by_word_;
};

void AddArgument(argparse::ArgumentParser& parser, const VisibleOption& each) {
  const Option& option = *each.option;
  if (option.positional) {
    parser.add_argument(each.key).nargs(MayBeRepeated(option) ? argparse::nargs_pattern::any
                                                              : argparse::nargs_pattern::optional);
    return;
  }
  const auto add = [&](const std::string& name) {
    if (option.type == OptionType::kFlag) {
      parser.add_argument(name).flag();
    } else if (MayBeRepeated(option)) {
      parser.add_argument(name).append();
    } else {
      parser.add_argument(name);
    }
  };
  add(OptionName(each.key));
  if (option.letter != 0)
    parser.add_hidden_alias_for(parser[OptionName(each.key)], std::string("-") + option.letter);
  for (const std::string& old : option.old_keys) add(OptionName(old));
  if (option.type == OptionType::kFlag) parser.add_argument("--no-" + OptionName(each.key).substr(2)).flag();
}

std::optional<OptionValue> Given(const argparse::ArgumentParser& parser, const Option& option,
                                 const std::string& name) {
  if (!parser.is_used(name)) return std::nullopt;
  if (option.type == OptionType::kFlag) return true;
  if (!MayBeRepeated(option)) return Unprotected(parser.get<std::string>(name));
  std::vector<std::string> values = parser.get<std::vector<std::string>>(name);
  for (std::string& value : values) value = Unprotected(value);
  return values;
}

void Collect(const argparse::ArgumentParser& parser, const VisibleOption& each, GivenOptions& given) {
  const Option& option = *each.option;
  if (option.positional) {
    if (const auto values = Given(parser, option, each.key); values && MayBeRepeated(option)) {
      given.Add(each.key, *values, each.key);
      return;
    }
    if (const auto value = parser.present(each.key)) given.Add(each.key, Unprotected(*value), each.key);
    return;
  }
  const auto add = [&](const std::string& key) {
    const std::string name = OptionName(key);
    if (const auto value = Given(parser, option, name)) given.Add(key, *value, name);
  };
  add(each.key);
  for (const std::string& old : option.old_keys) add(old);
  if (option.type != OptionType::kFlag) return;
  const std::string negated = "--no-" + OptionName(each.key).substr(2);
  if (parser.is_used(negated)) given.Add(each.key, false, negated);
}

void RequireAll(const Command& command, const GivenOptions& given) {
  for (const Option& option : command.schema().options) {
    const bool there = given.Has(option.key) ||
                       std::ranges::any_of(option.old_keys, [&](const auto& old) { return given.Has(old); });
    if (!option.required || there) continue;
    const std::string name = option.positional ? option.key : OptionName(option.key);
    throw UsageError(
        fmt::format("{} is missing: {} (see `ort-ed {} --help`)", name, option.help, command.name));
  }
}

}  // namespace

std::string OptionName(const std::string& key) {
  std::string name = "--" + key;
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string Metavar(const Option& option) {
  if (!option.domain.empty() && !IsInterval(option.domain)) return option.domain;
  switch (option.type) {
    case OptionType::kFlag:
      return "";
    case OptionType::kInteger:
      return "N";
    case OptionType::kNumber:
      return "X";
    case OptionType::kPeriod:
      return "N|TIME";
    case OptionType::kIntegers:
      return "N,N,...";
    case OptionType::kNumbers:
      return "X,Y,...";
    case OptionType::kTexts:
      return "A,B,...";
    case OptionType::kText:
      return "TEXT";
    case OptionType::kChoice:
      return "NAME";
  }
  return "";
}

GivenOptions ParseArguments(const Command& command, const std::vector<std::string>& given_words) {
  const OptionWords options(command);
  const std::vector<std::string> words = options.Normalise(given_words);
  argparse::ArgumentParser parser(command.name, "", argparse::default_arguments::none);
  for (const VisibleOption& each : options.visible()) AddArgument(parser, each);
  std::vector<std::string> with_program = {command.name};
  with_program.insert(with_program.end(), words.begin(), words.end());
  try {
    parser.parse_args(with_program);
  } catch (const std::bad_alloc&) {
    throw;  // low memory is no wrong usage
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("{} (see `ort-ed {} --help`)", error.what(), command.name));
  }
  GivenOptions given;
  for (const VisibleOption& each : options.visible()) Collect(parser, each, given);
  RequireAll(command, given);
  return given;
}

}  // namespace ort_ed
