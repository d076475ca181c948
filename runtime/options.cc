#include "ort_ed/options.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "runtime/option_values.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

using Names = std::vector<std::string>;

Names NamesIn(const KindTable& table) {
  Names names;
  for (const KindRow& row : table.rows) names.push_back(row.name);
  return names;
}

std::string WithoutQuotes(std::string text) {
  std::erase(text, '`');
  return text;
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

void CheckKinds(const std::string& key, const std::string& kind, const KindTable& table) {
  if (IsFile(kind, table)) return;
  for (const std::string& name : KindNames({kind, {}}, table)) FindRow(table, name, key);
}

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

void AddEnumValue(Option& option, const char* name, int value) {
  option.names.emplace_back(name, value);
  if (!option.domain.empty()) option.domain += '|';
  option.domain += name;
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

const Schema& MakeSchema(const void* defaults, void* (*create)(), void (*destroy)(void*),
                         void (*describe)(Schema&)) {
  auto made = std::make_unique<Schema>();
  made->defaults = defaults;
  made->create = create;
  made->destroy = destroy;
  describe(*made);
  return *made.release();
}

}  // namespace options_detail

Choice::Choice() = default;
Choice::Choice(std::string name, OptionMap given) : kind(std::move(name)), options(std::move(given)) {}
Choice::Choice(const char* name) : kind(name) {}
Choice::Choice(const Choice&) = default;
Choice::Choice(Choice&&) noexcept = default;
Choice& Choice::operator=(const Choice&) = default;
Choice& Choice::operator=(Choice&&) noexcept = default;
Choice::~Choice() = default;

DeclaredOption& DeclaredOption::Default(std::string text) {
  return option_.default_text = std::move(text), *this;
}

DeclaredOption& DeclaredOption::AddName(std::string name, int value) {
  return option_.names.emplace_back(std::move(name), value), *this;
}

DeclaredOption& DeclaredOption::Formerly(std::string key) {
  return option_.old_keys.push_back(std::move(key)), *this;
}

DeclaredOption& DeclaredOption::When(std::string key, std::string domain) {
  return option_.conditions.push_back({std::move(key), std::move(domain)}), *this;
}

DeclaredOption& DeclaredOption::Prefix(std::string prefix) {
  return option_.prefix = std::move(prefix), *this;
}

DeclaredOption& DeclaredOption::Table(std::string table) { return option_.table = std::move(table), *this; }

OptionError::OptionError(std::string key, std::string reason, Problem problem, std::string origin)
    : Error(ErrorCode::kInvalidArgument, key + " " + WithoutQuotes(reason)),
      key_(std::move(key)),
      reason_(std::move(reason)),
      problem_(problem),
      origin_(std::move(origin)) {}

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

  // `why_idle`: why the choice around it has no effect, and with it all of this; empty: it has.
  void Apply(const Schema& schema, void* object, const std::string& prefix,
             const std::string& why_idle = "") {
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
      if (option.kinds != nullptr) ApplyToKinds(schema, option, object, prefix, why_idle);
    for (const Option& option : schema.options) NoteEffect(schema, option, object, prefix, why_idle);
  }

  // What several share is refused where it has an effect for none of them.
  void RefuseIdle() const {
    for (const auto& [key, why] : idle_)
      if (!effective_.contains(key)) Refuse(key, why, OptionError::Problem::kNoEffect);
  }

  void RefuseRest(const Schema& schema, const void* object) const {
    const auto is_used = [&](const auto& given) { return used_.contains(given.first); };
    if (std::ranges::all_of(given_.given_, is_used)) return;
    const std::vector<VisibleOption> visible = VisibleOptions(schema);
    for (const auto& [key, given] : given_.given_) {
      if (used_.contains(key)) continue;
      const auto found = std::ranges::find_if(visible, [&, &key = key](const VisibleOption& each) {
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

  void ApplyToKinds(const Schema& around, const Option& option, void* object, const std::string& prefix,
                    const std::string& why_idle) {
    Choice& choice = ChoiceIn(option, object);
    const std::string why = why_idle.empty() ? WhyNoEffect(around, option, object) : why_idle;
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
      Apply(schema, scratch.get(), inner, why);
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

  void NoteEffect(const Schema& schema, const Option& option, const void* object, const std::string& prefix,
                  const std::string& why_idle) {
    const std::string key = GivenKey(option, prefix);
    if (key.empty()) return;
    const std::string why = why_idle.empty() ? WhyNoEffect(schema, option, object) : why_idle;
    if (why.empty() || IsHarmless(key, option, schema.defaults)) {
      effective_.insert(key);
    } else {
      idle_.emplace(key, why);
    }
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
  std::set<std::string> effective_;          // by the keys that were given
  std::map<std::string, std::string> idle_;  // and why
  int depth_ = 0;
};

void GivenOptions::ApplyTo(const Schema& schema, void* object) const {
  OptionApplier applier(*this);
  applier.Apply(schema, object, "");
  applier.RefuseIdle();
  applier.RefuseRest(schema, object);
}

void SetOptions(const Schema& schema, void* object, const OptionMap& values) {
  GivenOptions given;
  for (const auto& [key, value] : values)
    if (!std::holds_alternative<Nothing>(value)) given.Add(key, value, "");
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
    if (option.kinds == nullptr) {
      values.emplace(option.key, option.Get(object));  // what a choice of the same key says stands
      continue;
    }
    values[option.key] = option.Get(object);
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

void CheckOptions(const Schema& schema, const void* object) {
  for (const Option& option : schema.options) {
    CheckMember(option, object);
    if (option.kinds == nullptr) continue;
    const KindTable table = option.kinds();
    for (const ChosenKind& chosen : Resolve(ChoiceIn(option, object), table, option.key)) {
      const Scratch scratch(*table.rows[chosen.row].schema);
      SetOptions(*table.rows[chosen.row].schema, scratch.get(), chosen.options);
    }
  }
}

}  // namespace ort_ed
