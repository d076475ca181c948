#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ort_ed/error.h"
#include "ort_ed/export.h"
#include "ort_ed/nothing.h"

// Options, declared once, beside the code that uses them. A struct of options says
//
//   struct Options {
//     double epsilon = 0.1;
//     bool exact = false;
//     static void Describe(Declare<Options>& declare) {
//       declare("epsilon", &Options::epsilon, "(0, 1)", "probability that a bit flips");
//       declare("exact", &Options::exact, "", "all negatives instead of drawn ones");
//     }
//   };
//
// and from that come options of the command, keys of configuration files, options by name in C and Python,
// help and checks. Members keep their C++ types and defaults.

namespace ort_ed {

// "Every 500 steps" or "every 60 seconds"; 0 is never. Written 500, "60s", "5m" or "1h".
struct Period {
  int64_t steps = 0;
  double seconds = 0;
  bool never() const { return steps == 0 && seconds == 0; }
};

// The value of an option, whatever its type. Text may stand for any other: it is parsed where it is used.
using OptionValue = std::variant<Nothing, bool, int64_t, double, std::string, std::vector<int64_t>,
                                 std::vector<double>, std::vector<std::string>>;
using OptionMap = std::map<std::string, OptionValue>;

// One of several kinds (a sampler, an architecture, ...), with options of that kind; those that are left out
// have their defaults. Several kinds joined by '+' where the table of kinds allows it.
struct ORT_ED_API Choice {
  Choice();
  Choice(std::string name, OptionMap given = {});
  Choice(const char* name);
  Choice(const Choice&);
  Choice(Choice&&) noexcept;
  Choice& operator=(const Choice&);
  Choice& operator=(Choice&&) noexcept;
  ~Choice();

  std::string kind;
  OptionMap options;
};

// A mistake in an option: which, and why. The message is the key followed by the reason, "epsilon must lie in
// (0, 1), not 2"; other options stand in it as `key`. A front end spells keys as its users write them and
// says where the option was given.
class ORT_ED_API OptionError : public Error {
 public:
  enum class Problem { kValue, kUnknownName, kNoEffect };

  OptionError(std::string key, std::string reason, Problem problem = Problem::kValue,
              std::string origin = "");

  const std::string& key() const { return key_; }
  const std::string& reason() const { return reason_; }
  Problem problem() const { return problem_; }
  // Where the user gave it: "--epsilon", "run.toml:12"; empty: not known.
  const std::string& origin() const { return origin_; }

 private:
  std::string key_, reason_;
  Problem problem_;
  std::string origin_;
};

enum class OptionType { kFlag, kInteger, kNumber, kText, kPeriod, kIntegers, kNumbers, kTexts, kChoice };

struct Schema;

// What a Choice may hold: rows {name, summary, schema} of a table of kinds.
struct KindRow {
  std::string name;
  std::string summary;
  const Schema* schema;
};
struct KindTable {
  std::vector<KindRow> rows = {};
  bool joined = false;           // several may be joined by '+'
  std::string file_suffix = "";  // a name that ends so is a file in place of a kind; it has no options
};

// What a Choice may hold of a table whose rows have name, summary and schema.
template <typename Kinds>
KindTable ListKinds(const Kinds& kinds) {
  KindTable table;
  for (const auto* kind : kinds) table.rows.push_back({kind->name, kind->summary, &kind->schema()});
  return table;
}

// One option as it was declared.
struct Option {
  // Has an effect only where the option `key` of the same schema lies in `domain`.
  struct Condition {
    std::string key;
    std::string domain;
  };

  std::string key;
  std::string section;  // of a configuration file
  std::string help;
  // Numbers: an interval, "(0, 1]". Text: choices "adam|sgd", or what to write, "FILE".
  std::string domain;
  OptionType type = OptionType::kText;
  char letter = 0;          // -o
  bool positional = false;  // of the command: its place, not its name
  bool required = false;
  bool may_change = false;            // when a run is resumed
  std::string default_text;           // what happens where it is not given, if the value does not tell
  std::vector<std::string> old_keys;  // former spellings
  std::vector<Condition> conditions;
  KindTable (*kinds)() = nullptr;  // of a choice
  std::string prefix;              // of the keys of the chosen kind's options
  std::string table;  // configuration files: the table that holds the kind's options; empty: none

  // Where the member lies in the struct, and how it is read and written.
  std::ptrdiff_t offset = 0;
  OptionValue (*get)(const void* member) = nullptr;
  void (*set)(void* member, const OptionValue& value) = nullptr;
  std::vector<std::pair<std::string, int>> names;  // of an enumeration's values

  ORT_ED_API OptionValue Get(const void* object) const;
  // Converts, checks and stores. Throws OptionError.
  ORT_ED_API void Set(void* object, const OptionValue& value) const;
};

// The options of a struct, those of the structs inside it included.
struct Schema {
  std::vector<Option> options;
  const void* defaults = nullptr;  // an object of the struct
  void* (*create)() = nullptr;
  void (*destroy)(void* object) = nullptr;

  ORT_ED_API const Option* Find(std::string_view key) const;
};

// Text from and to values. Parse throws std::invalid_argument with the reason alone: "a number is expected".
ORT_ED_API OptionValue ParseOption(OptionType type, std::string_view text);
ORT_ED_API std::string FormatOption(const OptionValue& value);
ORT_ED_API Period ParsePeriod(std::string_view text);
ORT_ED_API std::string FormatPeriod(const Period& period);

namespace options_detail {

template <typename T>
struct Member;

#define ORT_ED_OPTION_MEMBER(Type, kType)                    \
  template <>                                                \
  struct ORT_ED_API Member<Type> {                           \
    static constexpr OptionType type = OptionType::kType;    \
    static OptionValue Get(const void* member);              \
    static void Set(void* member, const OptionValue& value); \
  }
ORT_ED_OPTION_MEMBER(bool, kFlag);
ORT_ED_OPTION_MEMBER(int, kInteger);
ORT_ED_OPTION_MEMBER(int64_t, kInteger);
ORT_ED_OPTION_MEMBER(uint64_t, kInteger);
ORT_ED_OPTION_MEMBER(float, kNumber);
ORT_ED_OPTION_MEMBER(double, kNumber);
ORT_ED_OPTION_MEMBER(std::string, kText);
ORT_ED_OPTION_MEMBER(Period, kPeriod);
ORT_ED_OPTION_MEMBER(std::vector<int64_t>, kIntegers);
ORT_ED_OPTION_MEMBER(std::vector<double>, kNumbers);
ORT_ED_OPTION_MEMBER(std::vector<std::string>, kTexts);
ORT_ED_OPTION_MEMBER(Choice, kChoice);
#undef ORT_ED_OPTION_MEMBER

// Not given: no value.
template <typename T>
struct Member<std::optional<T>> {
  static constexpr OptionType type = Member<T>::type;
  static OptionValue Get(const void* member) {
    const auto& value = *static_cast<const std::optional<T>*>(member);
    return value ? Member<T>::Get(&*value) : OptionValue();
  }
  static void Set(void* member, const OptionValue& value) {
    auto& target = *static_cast<std::optional<T>*>(member);
    if (std::holds_alternative<Nothing>(value)) {
      target.reset();
    } else {
      Member<T>::Set(&target.emplace(), value);
    }
  }
};

// Enumerations travel as their numbers; Option::names has the words.
template <typename Enum>
struct EnumMember {
  static OptionValue Get(const void* member) {
    return int64_t{static_cast<int>(*static_cast<const Enum*>(member))};
  }
  static void Set(void* member, const OptionValue& value) {
    *static_cast<Enum*>(member) = static_cast<Enum>(std::get<int64_t>(value));
  }
};

// What Declare does for every struct alike, compiled once.
ORT_ED_API Option& AddOption(Schema& schema, std::string_view section, std::string_view key,
                             std::string_view domain, std::string_view help, OptionType type,
                             std::ptrdiff_t offset, OptionValue (*get)(const void*),
                             void (*set)(void*, const OptionValue&));
// One more value of an enumeration.
ORT_ED_API void AddEnumValue(Option& option, const char* name, int value);
ORT_ED_API void AddOptions(Schema& schema, std::string_view section, const Schema& inner,
                           std::ptrdiff_t offset, const std::optional<Option::Condition>& condition);
// Lives as long as the program.
ORT_ED_API const Schema& MakeSchema(const void* defaults, void* (*create)(), void (*destroy)(void*),
                                    void (*describe)(Schema&));

}  // namespace options_detail

template <typename Options>
const Schema& SchemaOf();

// What may follow a declaration.
class ORT_ED_API DeclaredOption {
 public:
  explicit DeclaredOption(Option& option) : option_(option) {}
  DeclaredOption& Letter(char letter) { return option_.letter = letter, *this; }
  DeclaredOption& Positional() { return option_.positional = option_.required = true, *this; }
  DeclaredOption& Required() { return option_.required = true, *this; }
  DeclaredOption& MayChange() { return option_.may_change = true, *this; }
  // Help says this where the default value does not tell: "half of steps".
  DeclaredOption& Default(std::string text);
  // Another name, e.g. a former one, of a value of an enumeration.
  template <typename Enum>
  DeclaredOption& Alias(std::string name, Enum value) {
    return AddName(std::move(name), static_cast<int>(value));
  }
  DeclaredOption& Formerly(std::string key);
  // Without effect unless the other option lies in the domain; "true" for a flag, "*" for any text, "!" in
  // front of what it must not be. Where several share a key, it is refused if it has no effect for any.
  DeclaredOption& When(std::string key, std::string domain);
  // Of a choice.
  DeclaredOption& Prefix(std::string prefix);
  DeclaredOption& Table(std::string table);

 private:
  DeclaredOption& AddName(std::string name, int value);

  Option& option_;
};

// Builds the schema of a struct; handed to its Describe().
template <typename Self>
class Declare {
 public:
  Declare(Schema& schema, const Self& defaults) : schema_(schema), defaults_(defaults) {}

  using Declared = DeclaredOption;

  template <typename T>
  Declared operator()(std::string_view key, T Self::*member, std::string_view domain, std::string_view help) {
    using Access = options_detail::Member<T>;
    return Declared(options_detail::AddOption(schema_, section_, key, domain, help, Access::type,
                                              Offset(member), Access::Get, Access::Set));
  }

  // An enumeration, by the names of its values.
  template <typename Enum>
  requires std::is_enum_v<Enum> Declared operator()(std::string_view key, Enum Self::*member,
                                                    std::initializer_list<std::pair<const char*, Enum>> names,
                                                    std::string_view help) {
    using Access = options_detail::EnumMember<Enum>;
    Option& option = options_detail::AddOption(schema_, section_, key, "", help, OptionType::kText,
                                               Offset(member), Access::Get, Access::Set);
    for (const auto& [name, value] : names)
      options_detail::AddEnumValue(option, name, static_cast<int>(value));
    return Declared(option);
  }

  // A choice among kinds, whose own options stand beside it.
  Declared operator()(std::string_view key, Choice Self::*member, KindTable (*kinds)(),
                      std::string_view help) {
    using Access = options_detail::Member<Choice>;
    Option& option = options_detail::AddOption(schema_, section_, key, "", help, OptionType::kChoice,
                                               Offset(member), Access::Get, Access::Set);
    option.kinds = kinds;
    return Declared(option);
  }

  // All options of a struct inside this one; with a condition, as of When(), for each of them.
  template <typename Inner>
  void All(Inner Self::*member, const std::optional<Option::Condition>& condition = {}) {
    options_detail::AddOptions(schema_, section_, SchemaOf<Inner>(), Offset(member), condition);
  }

  // Of a configuration file; for what is declared from here on.
  void Section(std::string section) { section_ = std::move(section); }

 private:
  template <typename T>
  std::ptrdiff_t Offset(T Self::*member) const {
    return reinterpret_cast<const char*>(&(defaults_.*member)) - reinterpret_cast<const char*>(&defaults_);
  }

  Schema& schema_;
  const Self& defaults_;
  std::string section_;
};

// The schema of a struct with a Describe(), made once.
template <typename Options>
const Schema& SchemaOf() {
  static const Options defaults{};
  static const Schema& schema = options_detail::MakeSchema(
      &defaults, [] { return static_cast<void*>(new Options{}); },
      [](void* object) { delete static_cast<Options*>(object); },
      [](Schema& made) {
        Declare<Options> declare(made, defaults);
        Options::Describe(declare);
      });
  return schema;
}

// Sets options by name over those of `object`, a kind's options by the prefix of its choice. Throws
// OptionError for an unknown key, a value of another type or outside its domain, and what has no effect.
ORT_ED_API void SetOptions(const Schema& schema, void* object, const OptionMap& values);
template <typename Options>
Options MakeOptions(const OptionMap& values) {
  Options options{};
  SetOptions(SchemaOf<Options>(), &options, values);
  return options;
}

// The options of the struct by name, with those of the kinds that are chosen, and without those that have no
// effect.
ORT_ED_API OptionMap GetOptions(const Schema& schema, const void* object);

// The kinds that a choice names, each with the options that are its own. Throws OptionError, of `key`, for a
// name that is not in the table, and for options that none of them has.
struct ChosenKind {
  size_t row;  // of the table
  OptionMap options;
};
ORT_ED_API std::vector<ChosenKind> Resolve(const Choice& choice, const KindTable& table,
                                           const std::string& key);

// Checks what C++ code has set as what is set by name is checked. Throws OptionError.
ORT_ED_API void CheckOptions(const Schema& schema, const void* object);
template <typename Options>
void CheckOptions(const Options& options) {
  CheckOptions(SchemaOf<Options>(), &options);
}

// An option as a front end shows it, with the kinds it belongs to.
struct VisibleOption {
  std::string key;  // with the prefixes of the choices around it
  const Option* option;
  const Schema* schema;            // that declares it
  std::string choice;              // key of the choice whose kinds have it; empty: always there
  std::vector<std::string> kinds;  // that have it
  // The same key of other kinds, to which it means something else or has another default.
  std::vector<VisibleOption> others = {};
};
// Every option of the schema, and those of all kinds of its choices behind it; each key once.
ORT_ED_API std::vector<VisibleOption> VisibleOptions(const Schema& schema);

// Options that a user gave, each with its origin ("--epsilon", "run.toml:12"), until somebody uses them.
class ORT_ED_API GivenOptions {
 public:
  // `value`: of any type, or text. A later one takes the place of an earlier one.
  void Add(const std::string& key, OptionValue value, std::string origin);
  bool Has(const std::string& key) const { return given_.contains(key); }
  std::vector<std::string> Keys() const;
  // Of a key that was given.
  const OptionValue& GetValue(const std::string& key) const { return given_.at(key).value; }
  // Where it was given; empty: nowhere.
  std::string GetOrigin(const std::string& key) const;

  // Sets what was given of the schema's options, and of the options of the kinds that are chosen. Then
  // refuses what has no effect: options of kinds that were not chosen and those whose conditions do not hold.
  // Throws OptionError.
  void ApplyTo(const Schema& schema, void* object) const;
  template <typename Options>
  void ApplyTo(Options& options) const {
    ApplyTo(SchemaOf<Options>(), &options);
  }

  // What is given in files at its default value may be without effect: files written by programs name
  // everything.
  void AllowDefaultsFrom(std::string origin_prefix) { files_.push_back(std::move(origin_prefix)); }
  // The same whatever the value: of files that were accepted once.
  void AllowIdleFrom(std::string origin_prefix) { accepted_.push_back(std::move(origin_prefix)); }

 private:
  friend class OptionApplier;
  struct Given {
    OptionValue value;
    std::string origin;
  };
  std::map<std::string, Given> given_;
  std::vector<std::string> files_;     // that may name what is at its default
  std::vector<std::string> accepted_;  // that may name anything without effect
};

}  // namespace ort_ed
