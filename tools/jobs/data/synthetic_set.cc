#include "tools/jobs/data/synthetic_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr char kPrefix[] = "synth:";
constexpr char kRows[] = "rows";    // an option of all that are not endless
constexpr int64_t kFewestRows = 2;  // one to train on and one to validate on

const SyntheticKind& FindKind(const std::string& name) {
  std::vector<std::string> known;
  for (const SyntheticKind& kind : SyntheticSets()) {
    if (kind.name == name) return kind;
    known.push_back(kPrefix + kind.name);
  }
  throw OptionError(
      "data", fmt::format("names {}{}, which is not known; there are {}", kPrefix, name, Join(known, ", ")),
      OptionError::Problem::kUnknownName);
}

// "shape=4x4,rows=100" as options by name.
OptionMap ParseAssignments(const std::string& text) {
  OptionMap options;
  for (const std::string& assignment : SplitWords(text, ',')) {
    const size_t equals = std::min(assignment.find('='), assignment.size());
    options[assignment.substr(0, equals)] = assignment.substr(std::min(equals + 1, assignment.size()));
  }
  return options;
}

void CheckNames(const SyntheticKind& kind, const OptionMap& options) {
  std::vector<std::string> known;
  for (const Option& option : kind.schema().options) known.push_back(option.key);
  if (!kind.endless) known.emplace_back(kRows);
  for (const auto& [name, value] : options) {
    if (known.empty())
      throw OptionError("data", fmt::format("names {}{}, which takes no options", kPrefix, kind.name));
    if (std::ranges::find(known, name) == known.end())
      throw OptionError("data",
                        fmt::format("names {}{}, which has no option {}; there are {}", kPrefix, kind.name,
                                    name, Join(known, ", ")),
                        OptionError::Problem::kUnknownName);
  }
}

int64_t ParseRows(const OptionValue& value) {
  const std::string text = FormatOption(value);
  const auto rows = ParseInteger(text);
  if (!rows || *rows < kFewestRows)
    throw OptionError(kRows,
                      fmt::format("must be a whole number of at least {}, not '{}'", kFewestRows, text));
  return *rows;
}

}  // namespace

KindTable SyntheticTable() {
  KindTable table;
  for (const SyntheticKind& kind : SyntheticSets())
    table.rows.push_back({kind.name, kind.summary, &kind.schema()});
  return table;
}

std::string SyntheticNames(bool SyntheticKind::*trait) {
  std::vector<std::string> names;
  for (const SyntheticKind& kind : SyntheticSets())
    if (kind.*trait) names.push_back(kind.name);
  return Join(names, "|");
}

std::unique_ptr<SyntheticSet> MakeSyntheticSet(const Choice& choice, int threads, const std::string& key) {
  const ChosenKind chosen = Resolve(choice, SyntheticTable(), key).front();
  const SyntheticKind& kind = SyntheticSets()[chosen.row];
  return kind.make(kind, chosen.options, threads);
}

bool IsSynthetic(const std::string& data) { return data.starts_with(kPrefix); }

SyntheticData ParseSynthetic(const std::string& data) {
  const std::string text = IsSynthetic(data) ? data.substr(sizeof(kPrefix) - 1) : data;
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const SyntheticKind& kind = FindKind(name);
  SyntheticData parsed{.set = {kind.name, ParseAssignments(text.substr(std::min(colon + 1, text.size())))}};
  CheckNames(kind, parsed.set.options);
  try {
    if (const auto rows = parsed.set.options.extract(kRows)) parsed.rows = ParseRows(rows.mapped());
    MakeSyntheticSet(parsed.set);
  } catch (const OptionError& error) {
    throw OptionError("data", fmt::format("names {}{}, whose {}", kPrefix, kind.name, error.what()));
  }
  if (kind.endless) parsed.rows.reset();
  return parsed;
}

}  // namespace ort_ed
