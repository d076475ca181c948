#include "ort_ed/options.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "runtime/support/interval.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

using Names = std::vector<std::string>;

template <typename T>
T As(const OptionValue& value) {
  return std::get<T>(value);
}

Names NamesIn(const KindTable& table) {
  Names names;
  for (const KindRow& row : table.rows) names.push_back(row.name);
  return names;
}

std::string WithoutQuotes(std::string text) {
  std::erase(text, '`');
  return text;
}

bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

[[noreturn]] void RefuseName(const std::string& key, const std::string& name, const Names& known,
                             bool joined = false) {
  throw OptionError(key,
                    "must be one of " + Join(known, ", ") + (joined ? ", or several joined by +" : "") +
                        ", not '" + name + "'",
                    OptionError::Problem::kUnknownName);
}

bool IsFile(const std::string& kind, const KindTable& table) {
  return !table.file_suffix.empty() && kind.ends_with(table.file_suffix);
}

Names KindNames(const Choice& choice, const KindTable& table) {
  return table.joined ? Split(choice.kind, '+') : Names{choice.kind};
}

size_t FindRow(const KindTable& table, const std::string& name, const std::string& key) {
  for (size_t row = 0; row < table.rows.size(); ++row)
    if (table.rows[row].name == name) return row;
  RefuseName(key, name, NamesIn(table), table.joined);
}

void CheckKinds(const std::string& key, const std::string& kind, const KindTable& table) {
  if (IsFile(kind, table)) return;
  for (const std::string& name : KindNames({kind, {}}, table)) FindRow(table, name, key);
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
    const Names words = SplitWords(option.domain, '|');
    if (!Contains(words, *text)) RefuseName(key, *text, words);
  }
}

// Whether the value lies in the domain of a condition.
bool Meets(const OptionValue& value, const std::string& domain) {
  if (domain == "*") return !FormatOption(value).empty();
  if (const auto* flag = std::get_if<bool>(&value)) return *flag == (domain == "true");
  if (const auto* number = std::get_if<int64_t>(&value))
    return Interval(domain).Contains(static_cast<double>(*number));
  if (const auto* real = std::get_if<double>(&value)) return Interval(domain).Contains(*real);
  const Names words = SplitWords(domain, '|');
  return std::ranges::find(words, FormatOption(value)) != words.end();
}

// The value in the option's own type; text is parsed, whole numbers are numbers, one number is a list.
OptionValue Converted(const Option& option, const OptionValue& value) {
  const OptionType type = option.type;
  if (const auto* text = std::get_if<std::string>(&value)) return ParseOption(type, *text);
  if (std::holds_alternative<std::monostate>(value)) return value;
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
      throw std::invalid_argument("a number of steps (500) or a time (60s, 5m, 1h)");
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
      if (std::holds_alternative<Names>(value)) return value;
      throw std::invalid_argument("a list of texts");
    case OptionType::kText:
    case OptionType::kChoice:
      throw std::invalid_argument("text");
  }
  return value;
}

const Choice& ChoiceIn(const Option& option, const void* object) {
  return *reinterpret_cast<const Choice*>(static_cast<const char*>(object) + option.offset);
}

Choice& ChoiceIn(const Option& option, void* object) {
  return *reinterpret_cast<Choice*>(static_cast<char*>(object) + option.offset);
}

// An object of a struct of which only the schema is known.
class Scratch {
 public:
  explicit Scratch(const Schema& schema) : schema_(schema), object_(schema.create()) {}
  ~Scratch() { schema_.destroy(object_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return object_; }

 private:
  const Schema& schema_;
  void* object_;
};

// Why the option has no effect in this object; empty: it has.
std::string WhyNoEffect(const Schema& schema, const Option& option, const void* object) {
  for (const Option::Condition& condition : option.conditions) {
    const Option* other = schema.Find(condition.key);
    if (other == nullptr) continue;
    const OptionValue value = other->Get(object);
    if (Meets(value, condition.domain)) continue;
    const std::string now = FormatOption(value);
    return condition.domain == "*" || condition.domain == "true"
               ? "has no effect without `" + condition.key + "`"
               : "has no effect with `" + condition.key + "` " + now;
  }
  return "";
}

bool MeansTheSame(const VisibleOption& a, const VisibleOption& b) {
  return a.option->help == b.option->help && a.option->domain == b.option->domain &&
         a.option->Get(a.schema->defaults) == b.option->Get(b.schema->defaults);
}

void AddVisible(VisibleOption option, std::vector<VisibleOption>& all) {
  const auto known = std::ranges::find(all, option.key, &VisibleOption::key);
  if (known == all.end()) return all.push_back(std::move(option));
  if (known->kinds.empty()) return;  // it is there whatever is chosen
  const auto add_to = [&](VisibleOption& one) {
    if (!MeansTheSame(one, option)) return false;
    if (!Contains(one.kinds, option.kinds.front())) one.kinds.push_back(option.kinds.front());
    return true;
  };
  if (!add_to(*known) && std::ranges::none_of(known->others, add_to))
    known->others.push_back(std::move(option));
}

// Tables of kinds with the prefix of their options.
using SeenChoices = std::set<std::pair<KindTable (*)(), std::string>>;
constexpr size_t kMostChoices = 32;

void Flatten(const Schema& schema, const std::string& prefix, const std::string& choice,
             const std::string& kind, SeenChoices& seen, std::vector<VisibleOption>& all) {
  for (const Option& option : schema.options)
    AddVisible({prefix + option.key, &option, &schema, choice, kind.empty() ? Names() : Names{kind}}, all);
  for (const Option& option : schema.options) {
    if (option.kinds == nullptr || !seen.insert({option.kinds, prefix + option.prefix}).second) continue;
    if (seen.size() > kMostChoices) continue;  // a kind that holds itself by a prefix has no end
    const KindTable table = option.kinds();
    for (const KindRow& row : table.rows)
      Flatten(*row.schema, prefix + option.prefix, prefix + option.key, row.name, seen, all);
  }
}

}  // namespace

namespace options_detail {

Option& AddOption(Schema& schema, std::string_view section, std::string_view key, std::string_view domain,
                  std::string_view help, OptionType type, std::ptrdiff_t offset,
                  OptionValue (*get)(const void*), void (*set)(void*, const OptionValue&)) {
  Option& option = schema.options.emplace_back();
  option.key = key;
  option.section = section;
  option.help = help;
  option.domain = domain;
  option.type = type;
  option.offset = offset;
  option.get = get;
  option.set = set;
  return option;
}

Option& AddEnumOption(Schema& schema, std::string_view section, std::string_view key,
                      std::span<const std::pair<const char*, int>> names, std::string_view help,
                      std::ptrdiff_t offset, OptionValue (*get)(const void*),
                      void (*set)(void*, const OptionValue&)) {
  Option& option = AddOption(schema, section, key, "", help, OptionType::kText, offset, get, set);
  for (const auto& [name, number] : names) option.names.emplace_back(name, number);
  Names words;
  for (const auto& [name, number] : option.names) words.push_back(name);
  option.domain = Join(words, "|");
  return option;
}

void AddOptions(Schema& schema, std::string_view section, const Schema& inner, std::ptrdiff_t offset,
                const std::optional<Option::Condition>& condition) {
  for (Option option : inner.options) {
    option.offset += offset;
    if (!section.empty()) option.section = section;
    if (condition) option.conditions.push_back(*condition);
    schema.options.push_back(std::move(option));
  }
}

}  // namespace options_detail

OptionError::OptionError(std::string key, std::string reason, Problem problem, std::string origin)
    : Error(ErrorCode::kInvalidArgument, key + " " + WithoutQuotes(reason)),
      key_(std::move(key)),
      reason_(std::move(reason)),
      problem_(problem),
      origin_(std::move(origin)) {}

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
    if (auto* number = std::get_if<double>(&value); number != nullptr && *number == 0)
      *number = 0;  // -0 is 0
    CheckDomain(key, *this, value);
    for (const auto& [name, number] : names)
      if (value == OptionValue(name)) return set(member, int64_t{number});
    if (kinds != nullptr) CheckKinds(key, As<std::string>(value), kinds());
    set(member, value);
  } catch (const std::invalid_argument& error) {
    throw OptionError(key, std::string("must be ") + error.what() + ", not '" + FormatOption(given) + "'");
  }
}

const Option* Schema::Find(std::string_view key) const {
  for (const Option& option : options)
    if (option.key == key || Contains(option.old_keys, key)) return &option;
  return nullptr;
}

std::vector<VisibleOption> VisibleOptions(const Schema& schema) {
  std::vector<VisibleOption> all;
  SeenChoices seen;
  Flatten(schema, "", "", "", seen, all);
  return all;
}

void GivenOptions::Add(const std::string& key, OptionValue value, std::string origin) {
  given_[key] = {std::move(value), std::move(origin)};
}

std::vector<std::string> GivenOptions::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, given] : given_) keys.push_back(key);
  return keys;
}

std::string GivenOptions::GetOrigin(const std::string& key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? "" : found->second.origin;
}

// One pass of GivenOptions::ApplyTo().
class OptionApplier {
 public:
  explicit OptionApplier(const GivenOptions& given) : given_(given) {}

  void Apply(const Schema& schema, void* object, const std::string& prefix) {
    for (const Option& option : schema.options) {
      const std::string key = GivenKey(option, prefix);
      if (key.empty()) continue;
      RefuseBothSpellings(option, prefix);
      used_.insert(key);
      try {
        option.Set(object, given_.given_.at(key).value);
      } catch (const OptionError& error) {  // is told of the key that the user wrote
        Refuse(error.key() == option.key ? key : error.key(), error.reason(), error.problem());
      }
    }
    for (const Option& option : schema.options)
      if (option.kinds != nullptr) ApplyToKinds(option, object, prefix);
    for (const Option& option : schema.options) RefuseWithoutEffect(schema, option, object, prefix);
  }

  void RefuseRest(const Schema& schema, const void* object) const {
    for (const auto& [key, given] : given_.given_) {
      if (used_.contains(key)) continue;
      const std::vector<VisibleOption> visible = VisibleOptions(schema);
      const auto found = std::ranges::find_if(visible, [&](const VisibleOption& each) {
        return each.key == key || Contains(each.option->old_keys, key);
      });
      if (found == visible.end()) {
        Names known;
        for (const VisibleOption& each : visible) known.push_back(each.key);
        Refuse(key, "is not known; there are " + Join(known, ", "), OptionError::Problem::kUnknownName);
      }
      if (IsHarmless(key, *found->option, found->schema->defaults)) continue;
      Refuse(key, WhyForeign(*found, visible, GetOptions(schema, object)), OptionError::Problem::kNoEffect);
    }
  }

 private:
  // Names the choice that decides: where the option's own is not there either, the one around it.
  static std::string WhyForeign(const VisibleOption& foreign, const std::vector<VisibleOption>& visible,
                                const OptionMap& values) {
    const auto choice = values.find(foreign.choice);
    const auto around = std::ranges::find(visible, foreign.choice, &VisibleOption::key);
    if (choice == values.end() && around != visible.end() && !around->choice.empty())
      return WhyForeign(*around, visible, values);
    return "has no effect with `" + foreign.choice + "`" +
           (choice == values.end() ? "" : " " + FormatOption(choice->second)) + "; it belongs to " +
           Join(AllKinds(foreign), ", ");
  }

  static Names AllKinds(const VisibleOption& option) {
    Names kinds = option.kinds;
    for (const VisibleOption& other : option.others)
      kinds.insert(kinds.end(), other.kinds.begin(), other.kinds.end());
    return kinds;
  }

  // The key by which the option was given, also a former one; empty: it was not.
  std::string GivenKey(const Option& option, const std::string& prefix) const {
    if (given_.Has(prefix + option.key)) return prefix + option.key;
    for (const std::string& old : option.old_keys)
      if (given_.Has(prefix + old)) return prefix + old;
    return "";
  }

  void RefuseBothSpellings(const Option& option, const std::string& prefix) const {
    for (const std::string& old : option.old_keys)
      if (given_.Has(prefix + old) && given_.Has(prefix + option.key))
        Refuse(prefix + old, "is the former name of `" + prefix + option.key + "`, which is given, too",
               OptionError::Problem::kValue);
  }

  [[noreturn]] void Refuse(const std::string& key, const std::string& reason,
                           OptionError::Problem problem) const {
    throw OptionError(key, reason, problem, given_.GetOrigin(key));
  }

  void ApplyToKinds(const Option& option, void* object, const std::string& prefix) {
    Choice& choice = ChoiceIn(option, object);
    const KindTable table = option.kinds();
    const std::string inner = prefix + option.prefix;
    for (const ChosenKind& chosen : Resolve(choice, table, option.key)) {
      if (++depth_ > kDeepest)
        Refuse(prefix + option.key, "must not contain itself", OptionError::Problem::kValue);
      const Schema& schema = *table.rows[chosen.row].schema;
      const Scratch scratch(schema);
      SetOptions(schema, scratch.get(), chosen.options);
      // A key that others have used, another kind or the struct around the choice, is this one's, too.
      const std::set<std::string> used_by_others = std::exchange(used_, {});
      Apply(schema, scratch.get(), inner);
      --depth_;
      for (const std::string& key : used_)
        choice.options[PresentKey(schema, key.substr(inner.size()))] = given_.given_.at(key).value;
      used_.insert(used_by_others.begin(), used_by_others.end());
    }
  }

  // Of a key that may be a former spelling.
  static std::string PresentKey(const Schema& schema, const std::string& key) {
    for (const VisibleOption& visible : VisibleOptions(schema))
      if (Contains(visible.option->old_keys, key)) return visible.key;
    return key;
  }

  void RefuseWithoutEffect(const Schema& schema, const Option& option, const void* object,
                           const std::string& prefix) const {
    const std::string key = GivenKey(option, prefix);
    if (key.empty()) return;
    const std::string why = WhyNoEffect(schema, option, object);
    if (!why.empty() && !IsHarmless(key, option, schema.defaults))
      Refuse(key, why, OptionError::Problem::kNoEffect);
  }

  // Given by a file that was accepted once, or by one that names everything, at its default.
  bool IsHarmless(const std::string& key, const Option& option, const void* defaults) const {
    const auto& given = given_.given_.at(key);
    const auto is_from = [&](const std::string& file) { return given.origin.starts_with(file); };
    if (std::ranges::any_of(given_.accepted_, is_from)) return true;
    if (std::ranges::none_of(given_.files_, is_from)) return false;
    try {
      return Converted(option, given.value) == Converted(option, option.Get(defaults));
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  static constexpr int kDeepest = 8;  // kinds within kinds

  const GivenOptions& given_;
  std::set<std::string> used_;
  int depth_ = 0;
};

void GivenOptions::ApplyTo(const Schema& schema, void* object) const {
  OptionApplier applier(*this);
  applier.Apply(schema, object, "");
  applier.RefuseRest(schema, object);
}

void SetOptions(const Schema& schema, void* object, const OptionMap& values) {
  GivenOptions given;
  for (const auto& [key, value] : values)
    if (!std::holds_alternative<std::monostate>(value)) given.Add(key, value, "");
  given.ApplyTo(schema, object);
}

std::vector<ChosenKind> Resolve(const Choice& choice, const KindTable& table, const std::string& key) {
  std::vector<ChosenKind> chosen;
  if (IsFile(choice.kind, table)) return chosen;
  for (const std::string& name : KindNames(choice, table)) chosen.push_back({FindRow(table, name, key), {}});
  for (const auto& [name, value] : choice.options) {
    bool taken = false;
    Names known;
    for (ChosenKind& kind : chosen) {
      for (const VisibleOption& visible : VisibleOptions(*table.rows[kind.row].schema)) {
        known.push_back(visible.key);
        if (visible.key != name && !Contains(visible.option->old_keys, name)) continue;
        kind.options[name] = value;
        taken = true;
      }
    }
    if (!taken)
      throw OptionError(name,
                        "is no option of " + choice.kind +
                            (known.empty() ? ", which has none" : "; there are ") + Join(known, ", "),
                        OptionError::Problem::kUnknownName);
  }
  return chosen;
}

OptionMap GetOptions(const Schema& schema, const void* object) {
  OptionMap values;
  for (const Option& option : schema.options) {
    if (!WhyNoEffect(schema, option, object).empty()) continue;
    values[option.key] = option.Get(object);
    if (option.kinds == nullptr) continue;
    const KindTable table = option.kinds();
    for (const ChosenKind& chosen : Resolve(ChoiceIn(option, object), table, option.key)) {
      const Schema& inner = *table.rows[chosen.row].schema;
      const Scratch scratch(inner);
      SetOptions(inner, scratch.get(), chosen.options);
      for (auto& [key, value] : GetOptions(inner, scratch.get()))
        values[option.prefix + key] = std::move(value);
    }
  }
  return values;
}

namespace {

// What C++ code has set, whatever it was.
void CheckValue(const Option& option, const OptionValue& value) {
  if (!option.names.empty()) {
    if (!std::holds_alternative<std::string>(value))
      throw OptionError(option.key, "must be one of " + Join(SplitWords(option.domain, '|'), ", "));
    return;
  }
  try {
    CheckDomain(option.key, option, Converted(option, value));
  } catch (const std::invalid_argument& error) {
    throw OptionError(option.key,
                      std::string("must be ") + error.what() + ", not '" + FormatOption(value) + "'");
  }
}

}  // namespace

void CheckOptions(const Schema& schema, const void* object) {
  for (const Option& option : schema.options) {
    CheckValue(option, option.Get(object));
    if (option.kinds == nullptr) continue;
    const KindTable table = option.kinds();
    for (const ChosenKind& chosen : Resolve(ChoiceIn(option, object), table, option.key)) {
      const Scratch scratch(*table.rows[chosen.row].schema);
      SetOptions(*table.rows[chosen.row].schema, scratch.get(), chosen.options);
    }
  }
}

}  // namespace ort_ed
