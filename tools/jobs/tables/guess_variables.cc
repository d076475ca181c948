#include "tools/jobs/tables/guess_variables.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/data/table/cell_format.h"
#include "runtime/data/table/cell_value.h"
#include "runtime/data/table/variable_codec.h"
#include "runtime/support/text.h"
#include "tools/jobs/tables/bin_edges.h"

namespace ort_ed {
namespace {

using Labels = std::vector<std::string>;

constexpr int64_t kManyStates = 1000;
constexpr int64_t kRowsToIdentify = 20;  // fewer may all be different by chance

bool IsWhole(CellValues type) { return type != CellValues::kNumber && type != CellValues::kText; }

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string FirstOf(const Labels& names) {
  constexpr size_t kMost = 20;
  Labels shown;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) shown.push_back(Shortened(names[i]));
  return Join(shown, ", ") +
         (names.size() > kMost ? fmt::format(", ... and {} more", names.size() - kMost) : "");
}

std::string NameOf(CellValues type) {
  if (type == CellValues::kInteger) return "number";
  return type == CellValues::kClock ? "time" : ToText(type);
}

bool NamesAnId(const std::string& name) {
  const std::string lower = Lower(name);
  for (const char* word : {"id", "index", "key", "uuid", "guid", "nr", "no"}) {
    const std::string suffix = std::string("_") + word;
    if (lower == word || lower.ends_with(suffix)) return true;
  }
  return name.ends_with("Id") || name.ends_with("ID");
}

// The words of a name such as is_fraud, "Is Fraud" or isFraud, in lower case.
Labels WordsOf(const std::string& name) {
  Labels words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool joint = c < 0x80 && std::isalnum(c) == 0;
    const bool hump =
        i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if ((joint || hump) && !words.back().empty()) words.emplace_back();
    if (!joint) words.back() += static_cast<char>(std::tolower(c));
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool NamesALabel(const std::string& name) {
  static const std::set<std::string> as_name = {"class", "y", "species", "diagnosis"};
  static const std::set<std::string> as_word = {"label",    "target",    "outcome",  "churn",
                                                "churned",  "exited",    "fraud",    "fraudulent",
                                                "survived", "defaulted", "converted"};
  return as_name.contains(Lower(name)) ||
         std::ranges::any_of(WordsOf(name), [&](const std::string& word) { return as_word.contains(word); });
}

// How often each text occurs; of no and yes all spellings together, by the most frequent one.
std::map<std::string, int64_t> CountTexts(const ColumnProfile& column) {
  const std::map<std::string, int64_t> counts(column.texts().begin(), column.texts().end());
  constexpr size_t kMostSpellings = 16;
  if (column.too_many_texts() || counts.size() > kMostSpellings) return counts;
  Labels words;
  for (const auto& [text, count] : counts) words.push_back(text);
  if (!IsNoOrYes(words)) return counts;
  std::map<std::string, std::pair<std::string, int64_t>> by_word;  // its spelling so far, and the sum
  for (const auto& [text, count] : counts) {
    auto& [spelling, sum] = by_word[Lower(text)];
    if (spelling.empty() || count > counts.at(spelling)) spelling = text;
    sum += count;
  }
  std::map<std::string, int64_t> merged;
  for (const auto& [word, entry] : by_word) merged[entry.first] = entry.second;
  return merged;
}

// The labels that are frequent enough, the most frequent ones of them, in alphabetical order.
Labels FrequentLabels(const ColumnProfile& column, const TableOptions& options) {
  std::vector<std::pair<int64_t, std::string>> counts;
  for (const auto& [text, count] : CountTexts(column))
    if (count >= options.rare) counts.emplace_back(-count, text);
  std::ranges::sort(counts);
  if (std::ssize(counts) > options.max_categories) counts.resize(static_cast<size_t>(options.max_categories));
  Labels labels;
  for (const auto& [count, text] : counts) labels.push_back(text);
  std::ranges::sort(labels);
  return labels;
}

// The different numbers of a column as they are written, in their order; empty where there are more.
Labels NumberLabels(const ColumnProfile& column, CellValues type, int64_t most) {
  if (column.too_many_texts()) return {};
  std::map<double, std::string> by_number;
  const std::string format = column.format();
  for (const auto& [text, count] : column.texts()) {
    const auto number = ReadAs(text, type, column.decimal_comma(), format);
    if (!number) continue;
    const auto [entry, is_new] = by_number.emplace(*number, text);
    if (!is_new) entry->second = std::min(entry->second, text);
    if (std::ssize(by_number) > most) return {};
  }
  Labels labels;
  for (const auto& [number, text] : by_number) labels.push_back(text);
  return labels;
}

class Guesser {
 public:
  Guesser(const TableProfile& profile, const TableOptions& options) : profile_(profile), options_(options) {}

  TableGuess Guess() {
    CheckNames();
    if (profile_.counts_columns)
      guess_.warnings.emplace_back(
          "the first line counts up and is read as a row; if it names the columns say header yes");
    std::vector<Variable> list;
    for (size_t i = 0; i < profile_.columns.size(); ++i) {
      if (i == 0 && profile_.has_index) {
        guess_.dropped.push_back({profile_.names[i], "numbers the rows"});
        continue;
      }
      if (!IsWanted(profile_.names[i])) continue;
      if (auto variable = GuessColumn(profile_.names[i], profile_.columns[i])) {
        Consider(i, *variable);
        guess_.descriptions.push_back(DescribeVariable(*variable));
        list.push_back(std::move(*variable));
      }
    }
    if (std::ssize(list) == constants_) RefuseNothing();
    guess_.variables = Variables(std::move(list));
    return std::move(guess_);
  }

 private:
  void CheckNames() const {
    std::map<std::string, std::string> kind_of;
    const auto check = [&](const char* key, const Labels& names, bool is_kind) {
      for (const std::string& name : names) {
        if (std::ranges::find(profile_.names, name) == profile_.names.end())
          throw OptionError(key, fmt::format("names '{}', which is no column of the table; it has {}", name,
                                             FirstOf(profile_.names)));
        if (is_kind && !kind_of.emplace(name, key).second)
          throw OptionError(key, fmt::format("names '{}', which {} names, too", name, kind_of.at(name)));
      }
    };
    if (options_.NamesColumns()) check("columns", options_.columns, false);
    check("drop", options_.drop, true);
    check("categories", options_.categories, true);
    check("ordered", options_.ordered, true);
    check("cyclic", options_.cyclic, true);
  }

  [[noreturn]] void RefuseNothing() const {
    constexpr size_t kMost = 3;
    std::string why;
    for (size_t i = 0; i < std::min(kMost, guess_.dropped.size()); ++i)
      why += fmt::format("{}column '{}' {}", i == 0 ? "" : ", ", guess_.dropped[i].column,
                         guess_.dropped[i].why);
    if (constants_ > 0)
      why += fmt::format("{}{} the same value in every row", why.empty() ? "" : ", ",
                         constants_ == 1 ? "one column has" : fmt::format("{} columns have", constants_));
    throw Error(ErrorCode::kBadData,
                fmt::format("'{}': no column is left to learn: {}{}; {}", profile_.path, why,
                            guess_.dropped.size() > kMost ? ", ..." : "", AdviceWhereNothingIsLeft()));
  }

  std::string AdviceWhereNothingIsLeft() const {
    const bool named = !options_.drop.empty() || options_.NamesColumns();
    if (named) return "name other columns in columns or drop";
    return constants_ > 0 ? "give rows that differ"
                          : "name in categories or ordered what is to be learned all the same";
  }

  static bool Has(const Labels& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  bool IsWanted(const std::string& name) {
    const bool dropped = Has(options_.drop, name);
    if (!dropped && (!options_.NamesColumns() || Has(options_.columns, name))) return true;
    guess_.dropped.push_back({name, dropped ? "is named in drop" : "is not named in columns"});
    return false;
  }

  bool IsAskedFor(const std::string& name) const {
    return (options_.NamesColumns() && Has(options_.columns, name)) || Has(options_.categories, name) ||
           Has(options_.ordered, name) || Has(options_.cyclic, name);
  }

  void Drop(const std::string& name, const std::string& why, const std::string& advice) {
    guess_.dropped.push_back({name, why});
    guess_.warnings.push_back(fmt::format("column '{}' {} and is left out{}", name, why, advice));
  }

  std::optional<Variable> GuessColumn(const std::string& name, const ColumnProfile& column) {
    const bool same = column.texts().size() <= 1 && !column.too_many_texts();
    if (column.present() == 0) return Drop(name, "has no values", ""), std::nullopt;
    if (same && (column.missing() == 0 || options_.missing == MissingCells::kOmit))
      return MakeConstant(name, column);
    if (!IsAskedFor(name) && Identifies(name, column)) {
      Drop(name, "identifies rows (no value occurs twice)",
           fmt::format("; name it in categories or ordered to learn it, or in drop to hear no more of it"));
      return std::nullopt;
    }
    Variable variable{.name = name};
    variable.missing = column.missing() > 0 && options_.missing == MissingCells::kState;
    variable.values = Has(options_.categories, name) ? CellValues::kText : column.type();
    if (Has(options_.categories, name)) {
      MakeNominal(column, variable);
    } else if (column.type() != CellValues::kText) {
      MakeNumber(column, variable);
    } else if (!MakeText(column, variable)) {
      return std::nullopt;
    }
    if (variable.kind != VariableKind::kBinary && variable.plain_states() < 1)
      return Drop(name, "has no category that is not rare", "; lower rare to learn it"), std::nullopt;
    return variable;
  }

  // It stays: a row with another value is odd indeed.
  Variable MakeConstant(const std::string& name, const ColumnProfile& column) {
    const std::string& value = column.texts().begin()->first;
    ++constants_;
    guess_.warnings.push_back(fmt::format(
        "column '{}' is '{}' in every row: any other value will be odd; name it in drop if it tells nothing",
        name, Shortened(value)));
    return {.name = name,
            .kind = VariableKind::kNominal,
            .values = column.type(),
            .labels = {value},
            .other = true};
  }

  bool Identifies(const std::string& name, const ColumnProfile& column) {
    if (!column.unique() || column.present() < kRowsToIdentify) return false;
    if (column.type() == CellValues::kText) return true;
    if (column.type() != CellValues::kInteger) return false;
    if (column.counts_up() || NamesAnId(name)) return true;
    guess_.warnings.push_back(
        fmt::format("no value of column '{}' occurs twice; if it identifies rows, name it in drop", name));
    return false;
  }

  // No and yes: there cannot be a third. Other pairs may meet one, and have a state for it.
  static std::optional<Labels> NoAndYes(const ColumnProfile& column) {
    if (column.missing() > 0 || column.too_many_texts()) return std::nullopt;
    Labels words;
    for (const auto& [text, count] : CountTexts(column)) words.push_back(text);
    if (words.size() != 2 || !IsNoOrYes(words)) return std::nullopt;
    std::ranges::sort(words, {}, Lower);
    return words;
  }

  void MakeNominal(const ColumnProfile& column, Variable& variable) {
    variable.kind = VariableKind::kNominal;
    variable.labels = FrequentLabels(column, options_);
    variable.other = true;
    NoteOthers(column, variable);
  }

  void NoteOthers(const ColumnProfile& column, const Variable& variable) {
    int64_t kept = 0;
    const auto counts = CountTexts(column);
    for (const std::string& label : variable.labels) kept += counts.at(label);
    const int64_t others = column.present() - kept;
    if (kept > 0 && 10 * others > column.present())
      guess_.warnings.push_back(fmt::format(
          "column '{}': {} of {} rows have categories that are rare or beyond the {} most frequent ones, and "
          "share a state; raise max_categories, lower rare, or drop the column",
          variable.name, others, column.present(), options_.max_categories));
  }

  // Whether anything can be made of it.
  bool MakeText(const ColumnProfile& column, Variable& variable) {
    const bool ordered = Has(options_.ordered, variable.name), cyclic = Has(options_.cyclic, variable.name);
    if (const auto words = NoAndYes(column); words && !ordered && !cyclic) {
      variable.labels = *words;
      return true;
    }
    const auto different = static_cast<int64_t>(column.texts().size());
    if (!IsAskedFor(variable.name) && different > options_.max_categories &&
        2 * different > column.present()) {
      Drop(variable.name, "is text that hardly occurs twice",
           "; name it in categories to learn its most frequent values");
      return false;
    }
    MakeNominal(column, variable);
    if (ordered) variable.kind = VariableKind::kOrdered;
    if (cyclic) variable.kind = VariableKind::kCyclic;
    if (ordered || cyclic) WarnOfOrder(variable);
    return true;
  }

  void WarnOfOrder(const Variable& variable) {
    if (variable.labels.size() < 3) return;  // two have the same distance in any order
    guess_.warnings.push_back(fmt::format(
        "column '{}': its categories are taken in alphabetical order, from '{}' and '{}' to '{}'; if that is "
        "wrong, order `labels` in a copy of variables.toml and give that as variables",
        variable.name, Shortened(variable.labels[0]), Shortened(variable.labels[1]),
        Shortened(variable.labels.back())));
  }

  void MakeNumber(const ColumnProfile& column, Variable& variable) {
    const CellValues type = column.type();
    const bool named = Has(options_.cyclic, variable.name);
    const bool cyclic = named || (type == CellValues::kClock && !Has(options_.ordered, variable.name));
    const int64_t most = named ? std::max(options_.bins, options_.max_categories) : options_.bins;
    variable.format = column.format();
    if (column.day_is_unclear())
      guess_.warnings.push_back(fmt::format(
          "column '{}': no date tells the day from the month, {} is assumed; if that is wrong write them as "
          "2024-05-31, or edit `format` in a copy of variables.toml and give that as variables",
          variable.name, variable.format));
    WarnOfThousands(column, variable);
    const Labels labels = NumberLabels(column, type, most);
    if (labels == Labels{"0", "1"} && column.missing() == 0 && column.strays() == 0 && !cyclic) return;
    variable.kind = cyclic ? VariableKind::kCyclic : VariableKind::kOrdered;
    variable.other = column.strays() > 0;
    if (variable.other)
      guess_.warnings.push_back(fmt::format(
          "column '{}' holds {}s but for {} cells such as '{}', which share a state; leave cells empty that "
          "are not known",
          variable.name, NameOf(type), column.strays(), Shortened(column.stray())));
    variable.labels = labels;
    if (labels.empty()) MakeBins(column, variable);
  }

  void WarnOfThousands(const ColumnProfile& column, const Variable& variable) {
    if (const char mark = column.assumed_thousands(); mark != 0)
      guess_.warnings.push_back(fmt::format(
          "column '{}': no cell tells whether 1{}234 is 1234 or has decimals, 1234 is assumed, since whole "
          "numbers of up to three digits stand beside it; if that is wrong write decimals with a {}",
          variable.name, mark, mark == ',' ? "point" : "comma"));
  }

  void MakeBins(const ColumnProfile& column, Variable& variable) const {
    const std::vector<double> numbers = column.SortedNumbers();
    const Spacing spacing = IsWhole(column.type()) ? Spacing::Whole() : Spacing::Of(numbers);
    std::vector<double>& edges = variable.edges;
    edges = BinEdges(numbers, options_.bins, spacing);
    edges.front() = std::min(edges.front(), column.smallest());
    if (column.largest() >= edges.back()) edges.back() = spacing.After(column.largest());
    if (column.type() != CellValues::kNumber) return;
    NumberFormat written = ParseNumberFormat(variable.format);
    if (written.decimals < 0 && spacing.decimals() > 0) written.decimals = spacing.decimals();
    variable.format = written.is_plain() ? "" : ToText(written);
  }

  // Where most tables have what is to be predicted.
  bool IsLastOfTwoTexts(size_t column, const Variable& variable) const {
    constexpr size_t kLabels = 2;
    return column > 0 && column + 1 == profile_.columns.size() && variable.values == CellValues::kText &&
           variable.labels.size() == kLabels;
  }

  // Warnings about a column that is kept.
  void Consider(size_t column, const Variable& variable) {
    const std::string& name = profile_.names[column];
    if (variable.states() > kManyStates)
      guess_.warnings.push_back(fmt::format(
          "column '{}' becomes {} states, with which every step of a training is slow; lower {}, or name it "
          "in drop",
          name, variable.states(), variable.edges.empty() ? "max_categories" : "bins"));
    const auto [earlier, is_new] = seen_.emplace(profile_.columns[column].hash(), name);
    if (!is_new)
      guess_.warnings.push_back(
          fmt::format("columns '{}' and '{}' are the same in every row; name one of them in drop",
                      earlier->second, name));
    if ((NamesALabel(name) || IsLastOfTwoTexts(column, variable)) && !IsAskedFor(name))
      guess_.warnings.push_back(fmt::format(
          "column '{}' looks like what is to be predicted and is learned like any other; name it in drop if "
          "the model must not know it",
          name));
  }

  const TableProfile& profile_;
  const TableOptions& options_;
  int64_t constants_ = 0;  // columns with one value
  TableGuess guess_;
  std::map<uint64_t, std::string> seen_;
};

}  // namespace

std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 40;
  std::string shown = text.substr(0, kMost);
  while (!IsUtf8(shown)) shown.pop_back();
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return text.size() <= kMost ? shown : shown + "…";
}

namespace {

// In a list, where a comma would make two of one.
std::string Listed(const std::string& label) {
  const std::string shown = Shortened(label);
  return shown.find(',') == std::string::npos ? shown : "'" + shown + "'";
}

}  // namespace

std::string DescribeVariable(const Variable& variable) {
  constexpr size_t kShown = 4;
  Labels shown(variable.labels.begin(), variable.labels.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                      kShown, variable.labels.size())));
  for (std::string& label : shown) label = Listed(label);
  if (variable.labels.size() > kShown) shown.emplace_back("...");
  std::string text = ToText(variable.kind);
  if (variable.kind == VariableKind::kBinary)
    return text + ": " + (shown.empty() ? "0, 1" : Join(shown, ", "));
  if (!variable.edges.empty()) {
    text += fmt::format(", {} bins of {}s from {}", variable.plain_states(),
                        variable.values == CellValues::kInteger ? "whole number" : NameOf(variable.values),
                        DescribeRange(variable, variable.edges.front(), variable.edges.back()));
  } else {
    text += fmt::format(", {} categories: {}", variable.plain_states(), Join(shown, ", "));
  }
  if (variable.other) text += ", and others";
  if (variable.missing) text += ", and missing";
  if (!variable.format.empty()) text += ", written " + variable.format;
  return text;
}

TableGuess GuessVariables(const TableProfile& profile, const TableOptions& options) {
  return Guesser(profile, options).Guess();
}

}  // namespace ort_ed
