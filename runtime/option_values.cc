#include "runtime/option_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/support/interval.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr char kPeriodWanted[] = "a number of steps (500) or a time (60s, 5m, 1h)";
constexpr char kTimeDomain[] = "TIME";  // of a period that must not be counted in steps
constexpr char kTimeWanted[] = "a time above 0 with its unit: 30s, 10m, 2h or 1.5h";

template <typename T>
std::string Joined(const std::vector<T>& values, std::string (*text)(T)) {
  std::string joined;
  for (const T& value : values) joined += (joined.empty() ? "" : ",") + text(value);
  return joined;
}

std::string IntegerText(int64_t value) { return std::to_string(value); }
std::string NumberText(double value) { return Decimal(value); }

int64_t Integer(std::string_view text) {
  const auto value = ParseInteger(text);
  if (!value) throw std::invalid_argument("a whole number");
  return *value;
}

double Number(std::string_view text) {
  const auto value = ParseNumber(text);
  if (!value) throw std::invalid_argument("a number");
  return *value;
}

std::vector<int64_t> Integers(std::string_view text) {
  std::vector<int64_t> values;
  if (text.empty()) return values;
  for (const std::string& word : Split(text, ',')) values.push_back(Integer(word));
  return values;
}

std::vector<double> Numbers(std::string_view text) {
  std::vector<double> values;
  for (const std::string& word : Split(text, ',')) values.push_back(Number(word));
  return values;
}

void CheckNumber(const std::string& key, double value, const std::string& domain) {
  if (!std::isfinite(value)) throw OptionError(key, "must be a finite number");
  if (!domain.empty() && !Interval(domain).Contains(value))
    throw OptionError(key, "must lie in " + domain + ", not " + Decimal(value));
}

bool IsChoiceOfWords(const std::string& domain) { return domain.find('|') != std::string::npos; }

void CheckDomain(const std::string& key, const Option& option, const OptionValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    CheckNumber(key, static_cast<double>(*number), option.domain);
  } else if (const auto* real = std::get_if<double>(&value)) {
    CheckNumber(key, *real, option.domain);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
    for (const int64_t each : *integers) CheckNumber(key, static_cast<double>(each), option.domain);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    for (const double each : *numbers) CheckNumber(key, each, option.domain);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    const bool is_alias = std::ranges::count(option.names, *text, &std::pair<std::string, int>::first) > 0;
    if (is_alias || !IsChoiceOfWords(option.domain)) return;
    const std::vector<std::string> words = SplitWords(option.domain, '|');
    if (!Contains(words, *text)) RefuseName(key, *text, words);
  }
}

// What a message shows of a value: a mistake is seen in its first letters.
std::string Shown(const std::string& value) {
  constexpr size_t kMost = 80;
  return value.size() <= kMost ? "'" + value + "'" : "'" + value.substr(0, kMost) + "...'";
}

// 30s, 10m and 1.5h.
std::optional<double> ReadSeconds(std::string_view text) {
  const double unit = text.ends_with('s') ? 1 : text.ends_with('m') ? 60 : text.ends_with('h') ? 3600 : 0;
  if (unit == 0) return std::nullopt;
  const auto time = ParseNumber(text.substr(0, text.size() - 1));
  if (!time || !(*time >= 0) || !std::isfinite(*time)) return std::nullopt;
  return *time * unit;
}

OptionValue ConvertedTime(const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const bool is_time = text != nullptr && ReadSeconds(*text).value_or(0) > 0;
  if (!is_time && !std::holds_alternative<Nothing>(value)) throw std::invalid_argument(kTimeWanted);
  return value;
}

[[noreturn]] void RefuseValue(const Option& option, const OptionValue& value,
                              const std::invalid_argument& why) {
  throw OptionError(option.key, std::string("must be ") + why.what() + ", not " + Shown(FormatOption(value)));
}

}  // namespace

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void RefuseName(const std::string& key, const std::string& name, const std::vector<std::string>& known,
                bool joined) {
  throw OptionError(key,
                    "must be one of " + Join(known, ", ") + (joined ? ", or several joined by +" : "") +
                        ", not " + Shown(name),
                    OptionError::Problem::kUnknownName);
}

bool Meets(const OptionValue& value, const std::string& domain) {
  if (domain.starts_with('!')) return !Meets(value, domain.substr(1));
  if (domain == "*") return !FormatOption(value).empty();
  if (const auto* flag = std::get_if<bool>(&value)) return *flag == (domain == "true");
  if (const auto* number = std::get_if<int64_t>(&value))
    return Interval(domain).Contains(static_cast<double>(*number));
  if (const auto* real = std::get_if<double>(&value)) return Interval(domain).Contains(*real);
  return Contains(SplitWords(domain, '|'), FormatOption(value));
}

OptionValue Converted(const Option& option, const OptionValue& value) {
  const OptionType type = option.type;
  if (type == OptionType::kPeriod && option.domain == kTimeDomain) return ConvertedTime(value);
  if (const auto* text = std::get_if<std::string>(&value)) return ParseOption(type, *text);
  if (std::holds_alternative<Nothing>(value)) return value;
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  switch (type) {
    case OptionType::kFlag:
      if (std::holds_alternative<bool>(value)) return value;
      throw std::invalid_argument("true or false");
    case OptionType::kInteger:
      if (integer != nullptr) return value;
      throw std::invalid_argument("a whole number");
    case OptionType::kNumber:
      if (integer != nullptr) return static_cast<double>(*integer);
      if (number != nullptr) return value;
      throw std::invalid_argument("a number");
    case OptionType::kPeriod:
      if (integer != nullptr && *integer >= 0) return value;
      throw std::invalid_argument(kPeriodWanted);
    case OptionType::kIntegers:
      if (integer != nullptr) return std::vector{*integer};
      if (std::holds_alternative<std::vector<int64_t>>(value)) return value;
      throw std::invalid_argument("whole numbers");
    case OptionType::kNumbers:
      if (integer != nullptr) return std::vector{static_cast<double>(*integer)};
      if (number != nullptr) return std::vector{*number};
      if (const auto* integers = std::get_if<std::vector<int64_t>>(&value))
        return std::vector<double>(integers->begin(), integers->end());
      if (std::holds_alternative<std::vector<double>>(value)) return value;
      throw std::invalid_argument("numbers");
    case OptionType::kTexts:
      if (std::holds_alternative<std::vector<std::string>>(value)) return value;
      throw std::invalid_argument("a list of texts");
    case OptionType::kText:
    case OptionType::kChoice:
      throw std::invalid_argument("text");
  }
  return value;
}

OptionValue Option::Get(const void* object) const {
  OptionValue value = get(static_cast<const char*>(object) + offset);
  for (const auto& [name, number] : names)
    if (std::get<int64_t>(value) == number) return name;
  return value;
}

void Option::Set(void* object, const OptionValue& given) const {
  void* const member = static_cast<char*>(object) + offset;
  try {
    OptionValue value = Converted(*this, given);
    if (auto* number = std::get_if<double>(&value)) *number += 0.0;  // -0 is 0
    if (auto* numbers = std::get_if<std::vector<double>>(&value))
      for (double& number : *numbers) number += 0.0;
    CheckDomain(key, *this, value);
    for (const auto& [name, number] : names)
      if (value == OptionValue(name)) return set(member, int64_t{number});
    if (kinds != nullptr) CheckKinds(key, std::get<std::string>(value), kinds());
    set(member, value);
  } catch (const std::invalid_argument& error) {
    RefuseValue(*this, given, error);
  }
}

void CheckMember(const Option& option, const void* object) {
  const OptionValue value = option.Get(object);
  if (!option.names.empty()) {
    if (!std::holds_alternative<std::string>(value))
      throw OptionError(option.key, "must be one of " + Join(SplitWords(option.domain, '|'), ", "));
    return;
  }
  try {
    CheckDomain(option.key, option, Converted(option, value));
  } catch (const std::invalid_argument& error) {
    RefuseValue(option, value, error);
  }
}

OptionValue ParseOption(OptionType type, std::string_view text) {
  switch (type) {
    case OptionType::kFlag:
      if (text != "true" && text != "false") throw std::invalid_argument("true or false");
      return text == "true";
    case OptionType::kInteger:
      if (!ParseInteger(text) && ParseUnsigned(text)) return std::string(text);  // see Member<uint64_t>
      return Integer(text);
    case OptionType::kNumber:
      return Number(text);
    case OptionType::kPeriod:
      ParsePeriod(text);
      return std::string(text);
    case OptionType::kIntegers:
      return Integers(text);
    case OptionType::kNumbers:
      return Numbers(text);
    case OptionType::kTexts:
      return SplitWords(text, ',');
    case OptionType::kText:
    case OptionType::kChoice:
      break;
  }
  return std::string(text);
}

std::string FormatOption(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return IntegerText(*integer);
  if (const auto* number = std::get_if<double>(&value)) return NumberText(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) return Joined(*integers, IntegerText);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return Joined(*numbers, NumberText);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) return Join(*texts, ",");
  return "";
}

Period ParsePeriod(std::string_view text) {
  if (const auto seconds = ReadSeconds(text)) return {.seconds = *seconds};
  const auto steps = ParseInteger(text);
  if (!steps || *steps < 0) throw std::invalid_argument(kPeriodWanted);
  return {.steps = *steps};
}

std::string FormatPeriod(const Period& period) {
  return period.seconds != 0 ? Decimal(period.seconds) + "s" : std::to_string(period.steps);
}

namespace options_detail {

// Members that hold what the variant holds.
#define ORT_ED_PLAIN_MEMBER(Type, Stored)                                     \
  OptionValue Member<Type>::Get(const void* member) {                         \
    return static_cast<Stored>(*static_cast<const Type*>(member));            \
  }                                                                           \
  void Member<Type>::Set(void* member, const OptionValue& value) {            \
    *static_cast<Type*>(member) = static_cast<Type>(std::get<Stored>(value)); \
  }
ORT_ED_PLAIN_MEMBER(bool, bool)
ORT_ED_PLAIN_MEMBER(float, double)
ORT_ED_PLAIN_MEMBER(double, double)
ORT_ED_PLAIN_MEMBER(std::string, std::string)
ORT_ED_PLAIN_MEMBER(std::vector<int64_t>, std::vector<int64_t>)
ORT_ED_PLAIN_MEMBER(std::vector<double>, std::vector<double>)
ORT_ED_PLAIN_MEMBER(std::vector<std::string>, std::vector<std::string>)
#undef ORT_ED_PLAIN_MEMBER

namespace {

int64_t SignedInteger(const OptionValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  throw std::invalid_argument("a whole number of at most 63 bits");
}

}  // namespace

OptionValue Member<int64_t>::Get(const void* member) { return *static_cast<const int64_t*>(member); }

void Member<int64_t>::Set(void* member, const OptionValue& value) {
  *static_cast<int64_t*>(member) = SignedInteger(value);
}

OptionValue Member<int>::Get(const void* member) { return int64_t{*static_cast<const int*>(member)}; }

void Member<int>::Set(void* member, const OptionValue& value) {
  const int64_t number = SignedInteger(value);
  if (!std::in_range<int>(number)) throw std::invalid_argument("a whole number of at most 31 bits");
  *static_cast<int*>(member) = static_cast<int>(number);
}

// What is beyond int64_t travels as text.
OptionValue Member<uint64_t>::Get(const void* member) {
  const uint64_t value = *static_cast<const uint64_t*>(member);
  if (value > uint64_t{std::numeric_limits<int64_t>::max()}) return std::to_string(value);
  return static_cast<int64_t>(value);
}

void Member<uint64_t>::Set(void* member, const OptionValue& value) {
  auto& target = *static_cast<uint64_t*>(member);
  const auto* text = std::get_if<std::string>(&value);
  target = text != nullptr ? *ParseUnsigned(*text) : static_cast<uint64_t>(std::get<int64_t>(value));
}

OptionValue Member<Period>::Get(const void* member) {
  const auto& period = *static_cast<const Period*>(member);
  if (period.seconds != 0) return FormatPeriod(period);
  return period.steps;
}

void Member<Period>::Set(void* member, const OptionValue& value) {
  auto& period = *static_cast<Period*>(member);
  const auto* steps = std::get_if<int64_t>(&value);
  period = steps != nullptr ? Period{*steps, 0} : ParsePeriod(std::get<std::string>(value));
}

OptionValue Member<Choice>::Get(const void* member) { return static_cast<const Choice*>(member)->kind; }

// Options are those of the kind: another kind forgets them.
void Member<Choice>::Set(void* member, const OptionValue& value) {
  auto& choice = *static_cast<Choice*>(member);
  const auto& kind = std::get<std::string>(value);
  if (choice.kind != kind) choice = {kind, {}};
}

}  // namespace options_detail
}  // namespace ort_ed
