#include "tools/jobs/data/dataset.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/data/binarise.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/support/text.h"
#include "tools/jobs/data/row_store.h"
#include "tools/jobs/data/synthetic_set.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/jobs/tables/table_profile.h"
#include "tools/jobs/tables/variables_file.h"

namespace ort_ed {
namespace {

constexpr uint64_t kSplitStep = 0;                           // epochs are the steps from 1
constexpr uint64_t kValidationSeed = 0x76616C6964617465ULL;  // "validate"
constexpr int64_t kRowsForMean = 10000;                      // of an endless source
constexpr size_t kReadBytes = 1 << 20;

RowOptions ReadOptions(const DataOptions& data, uint64_t seed, int64_t columns) {
  return {.binarise = data.binarise,
          .threshold = static_cast<float>(data.threshold),
          .seed = seed,
          .columns = columns};
}

RowStore ReadStore(RowReader& reader, bool grey) {
  RowStore store(reader.columns(), grey);
  const auto width = static_cast<size_t>(reader.columns());
  std::vector<uint8_t> block(std::max<size_t>(1, kReadBytes / width) * width);
  while (const int64_t rows = reader.Read(block))
    store.Append(std::span(block).first(static_cast<size_t>(rows) * width));
  return store;
}

RowStore ReadStore(const std::string& path, const DataOptions& data, uint64_t seed, int64_t columns) {
  return ReadStore(*OpenRows(path, ReadOptions(data, seed, columns)), data.binarise == Binarise::kGrey);
}

// The same of rows whose variables are known. `columns_of`: for messages, by whom.
RowStore ReadStore(const std::string& path, const DataOptions& data, uint64_t seed,
                   const Variables& variables, const std::string& columns_of, Observer& observer) {
  const ModelRows rows = OpenModelRows(
      path, variables, ReadOptions(data, seed, variables.dimension()),
      {.omit_missing = data.table.missing == MissingCells::kOmit,
       .columns_of = columns_of,
       .missing_advice = "which the rows to train on miss, or the file of variables: give the variable "
                         "`missing = true` there, leave such rows out (missing omit), or fill the cell in",
       .other_advice = "remove the row, or give the variable `other = true` in a copy of variables.toml"});
  RowStore store = ReadStore(*rows.reader, data.binarise == Binarise::kGrey);
  if (rows.table != nullptr && rows.table->omitted() > 0)
    observer.OnNotice(fmt::format("'{}': {} rows with missing cells are left out, {} are left", path,
                                  rows.table->omitted(), store.rows()));
  return store;
}

std::vector<uint32_t> AllOf(const RowStore& store) {
  std::vector<uint32_t> members(static_cast<size_t>(store.rows()));
  std::iota(members.begin(), members.end(), 0u);
  return members;
}

// What is validated on is drawn once, so that its losses can be compared.
RowTable Pick(const RowStore& store, std::span<const uint32_t> members, uint64_t seed) {
  RowTable table{.rows = static_cast<int64_t>(members.size()), .columns = store.columns(), .values = {}};
  const auto width = static_cast<size_t>(table.columns);
  table.values.resize(members.size() * width);
  for (size_t i = 0; i < members.size(); ++i)
    store.Get(members[i], seed, 0, std::span(table.values).subspan(i * width, width));
  return table;
}

void ReadValidation(const DataOptions& options, uint64_t data_seed, int64_t columns, Observer& observer,
                    Dataset& dataset) {
  const RowStore store = dataset.variables.described()
                             ? ReadStore(options.validation, options, data_seed, dataset.variables,
                                         fmt::format("are learned from '{}'", options.data), observer)
                             : ReadStore(options.validation, options, data_seed, columns);
  std::vector<uint32_t> order = AllOf(store);
  const uint64_t seed = data_seed ^ kValidationSeed;
  Shuffle(order, seed, kSplitStep);  // a sorted file must not give rows of one kind only
  order.resize(std::min<size_t>(order.size(), static_cast<size_t>(options.validation_rows)));
  dataset.validation = Pick(store, order, seed);
  dataset.hash += ", validated on " + store.Hash();
}

std::vector<double> ComputeMean(const RowStore& store, std::span<const uint32_t> members) {
  std::vector<double> mean(static_cast<size_t>(store.columns()));
  for (const uint32_t row : members) store.AddTo(row, mean);
  for (double& value : mean) value /= static_cast<double>(members.size());
  return mean;
}

// `dataset`: what is known already.
Dataset FromStore(RowStore store, const DataOptions& options, uint64_t seed, Observer& observer,
                  Dataset dataset = {}) {
  std::vector<uint32_t> members = AllOf(store);
  dataset.hash = store.Hash();
  if (!options.validation.empty()) {
    ReadValidation(options, seed, store.columns(), observer, dataset);
  } else if (options.validation_fraction > 0) {
    Shuffle(members, seed, kSplitStep);
    const auto fraction =
        static_cast<size_t>(options.validation_fraction * static_cast<double>(members.size()));
    const auto held_out = std::min(fraction, static_cast<size_t>(options.validation_rows));
    dataset.validation = Pick(store, std::span(members).first(held_out), seed ^ kValidationSeed);
    members.erase(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(held_out));
  }
  dataset.training_rows = static_cast<int64_t>(members.size());
  dataset.mean = ComputeMean(store, members);
  dataset.training = ShuffledRows(std::move(store), std::move(members), seed);
  return dataset;
}

RowTable FirstRows(RowSource& source, int64_t rows) {
  RowTable table{.rows = rows, .columns = source.columns(), .values = {}};
  const auto width = static_cast<size_t>(table.columns);
  table.values.resize(static_cast<size_t>(rows) * width);
  for (int64_t n = 0; n < rows; ++n)
    source.Draw(n, std::span(table.values).subspan(static_cast<size_t>(n) * width, width));
  return table;
}

Dataset FromEndless(const SyntheticSet& set, const DataOptions& options, uint64_t seed, Observer& observer) {
  Dataset dataset;
  dataset.hash = options.data;
  dataset.training = set.Endless(seed);
  if (!options.validation.empty()) {
    ReadValidation(options, seed, set.columns(), observer, dataset);
  } else if (options.validation_fraction > 0) {
    dataset.validation = FirstRows(*set.Endless(seed ^ kValidationSeed), options.validation_rows);
  }
  std::vector<uint8_t> row(static_cast<size_t>(set.columns()));
  dataset.mean.resize(row.size());
  for (int64_t n = 0; n < kRowsForMean; ++n) {
    dataset.training->Draw(n, row);
    for (size_t i = 0; i < row.size(); ++i) dataset.mean[i] += row[i] / static_cast<double>(kRowsForMean);
  }
  return dataset;
}

// `columns` is 0 where any number will do.
Dataset FromSynthetic(const DataOptions& options, uint64_t seed, int64_t columns, Observer& observer) {
  const SyntheticData synthetic = ParseSynthetic(options.data);
  const auto set = MakeSyntheticSet(synthetic.set, 0, "data");
  if (columns != 0 && columns != set->columns())
    throw OptionError(
        "data", fmt::format("has rows of {} variables, not the {} that are needed", set->columns(), columns));
  if (!synthetic.rows) return FromEndless(*set, options, seed, observer);
  RowStore store(set->columns(), /*grey=*/false);
  set->Draw(
      *synthetic.rows, seed, [&](std::span<const uint8_t> rows) { store.Append(rows); }, observer);
  return FromStore(std::move(store), options, seed, observer);
}

void RefuseTableOptions(const DataOptions& options, const char* what) {
  const std::string key = options.table.FirstGiven();
  if (!key.empty())
    throw OptionError(key, fmt::format("is for tables (.csv, .tsv), and `data` is {}", what),
                      OptionError::Problem::kNoEffect);
}

void Tell(const TableProfile& profile, const TableGuess& guess, const std::string& path, Observer& observer) {
  constexpr int64_t kMostLines = 40;
  const Variables& variables = guess.variables;
  observer.OnNotice(fmt::format("'{}': {} rows, {} columns{}; {} variables in {} bits", path, profile.rows,
                                profile.columns.size(), profile.has_header ? "" : " without a header",
                                variables.size(), variables.dimension()));
  for (int64_t v = 0; v < std::min(variables.size(), kMostLines); ++v)
    observer.OnNotice(
        fmt::format("  {}: {}", Shortened(variables[v].name), guess.descriptions[static_cast<size_t>(v)]));
  if (variables.size() > kMostLines)
    observer.OnNotice(
        fmt::format("  ... and {} more; all are in variables.toml", variables.size() - kMostLines));
  for (const std::string& warning : guess.warnings) observer.OnWarning(warning);
}

Dataset FromKnown(const DataOptions& options, uint64_t seed, const Variables& variables,
                  const std::string& columns_of, int64_t columns, Observer& observer) {
  if (columns != 0 && columns != variables.dimension())
    throw OptionError(
        "variables", fmt::format("have {} bits, not the {} that are needed", variables.dimension(), columns));
  Dataset dataset;
  dataset.variables = variables;
  RowStore store = ReadStore(options.data, options, seed, variables, columns_of, observer);
  return FromStore(std::move(store), options, seed, observer, std::move(dataset));
}

Dataset FromTable(const TableProfile& profile, const DataOptions& options, uint64_t seed,
                  Observer& observer) {
  if (options.table.Width() > 0)
    throw OptionError("columns",
                      "says how many bits a row has, and this is a table; a column whose name is a "
                      "number is chosen by naming the others in drop");
  TableGuess guess = GuessVariables(profile, options.table);
  Tell(profile, guess, options.data, observer);
  Dataset dataset;
  dataset.variables = guess.variables;
  dataset.dropped = std::move(guess.dropped);
  dataset.warnings = std::move(guess.warnings);
  RowStore store =
      ReadStore(options.data, options, seed, dataset.variables, "it had when it was first read", observer);
  return FromStore(std::move(store), options, seed, observer, std::move(dataset));
}

// Names that tell something, and not only how many columns there are.
Variables NamedBits(const std::vector<std::string>& names) {
  const std::set<std::string> different(names.begin(), names.end());
  const bool counted =
      std::ranges::all_of(names, [](const auto& name) { return ParseNumber(name).has_value(); });
  if (names.empty() || counted || different.size() < names.size() || different.contains("")) return {};
  std::vector<Variable> list;
  for (const std::string& name : names) list.push_back({.name = name});
  return Variables(std::move(list));
}

// Two columns that are numbered in the first line look like a row; three cannot, there is no bit 2.
void NoteNumbersOfColumns(const RowStore& store, const std::string& path, Observer& observer) {
  std::vector<uint8_t> first(static_cast<size_t>(store.columns()));
  if (first.size() != 2) return;
  store.Get(0, 0, 0, first);
  if (first[0] == 0 && first[1] == 1)
    observer.OnNotice(fmt::format(
        "'{}': the first line, 0 and 1, is read as a row; if it numbers the columns say --header yes", path));
}

Dataset FromBits(const DataOptions& options, uint64_t seed, int64_t columns, bool text, Observer& observer) {
  const auto reader = OpenRows(options.data, ReadOptions(options, seed, columns));
  Dataset dataset;
  dataset.variables = NamedBits(reader->column_names());
  RowStore store = ReadStore(*reader, options.binarise == Binarise::kGrey);
  if (text && reader->column_names().empty()) NoteNumbersOfColumns(store, options.data, observer);
  return FromStore(std::move(store), options, seed, observer, std::move(dataset));
}

// Without names, and nearly all of it 0 and 1: a few other cells are a mistake rather than categories.
bool AreDamagedBits(const TableProfile& profile) {
  constexpr double kNearlyAll = 0.8;
  if (profile.has_header) return false;
  int64_t bits = 0, cells = 0;
  for (const ColumnProfile& column : profile.columns) {
    cells += column.rows();
    for (const char* bit : {"0", "1"})
      if (const auto found = column.texts().find(bit); found != column.texts().end()) bits += found->second;
  }
  return static_cast<double>(bits) >= kNearlyAll * static_cast<double>(cells);
}

// A text of 0 and 1 is what it is; any other is a table, unless so many bits are asked for.
Dataset FromText(const DataOptions& options, uint64_t seed, int64_t columns, Observer& observer) {
  const auto profile = [&] { return ProfileTable(options.data, options.table.header, observer); };
  if (!options.table.FirstGiven().empty()) return FromTable(profile(), options, seed, observer);
  if (columns != 0) return FromBits(options, seed, columns, /*text=*/true, observer);
  try {
    return FromBits(options, seed, columns, /*text=*/true, observer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    const TableProfile table = profile();
    if (!AreDamagedBits(table)) return FromTable(table, options, seed, observer);
    throw Error(ErrorCode::kBadData,
                fmt::format("{} (if it is a table of categories without a header, say so: "
                            "--header no)",
                            error.what()));
  }
}

void RefuseIdle(const std::string& key, const char* by) {
  if (!key.empty())
    throw OptionError(key, fmt::format("has no effect with {} says what the columns are", by),
                      OptionError::Problem::kNoEffect);
}

Dataset FromFile(const DataOptions& options, uint64_t seed, int64_t columns, const Variables& known,
                 Observer& observer) {
  if (known.described()) {
    RefuseIdle(options.table.FirstGiven({"missing"}), "the model, which");
    return FromKnown(options, seed, known, "the model has", columns, observer);
  }
  if (!options.table.variables.empty()) {
    RefuseIdle(options.table.FirstGiven({"variables", "missing"}), "`variables`, which");
    const std::string& file = options.table.variables;
    return FromKnown(options, seed, ReadVariables(file), fmt::format("'{}' names", file), columns, observer);
  }
  InputStream stream(options.data);
  const bool text = IsText(stream);
  if (text && options.binarise == Binarise::kStrict) return FromText(options, seed, columns, observer);
  RefuseTableOptions(options, text ? "binarised" : "an array");
  return FromBits(options, seed, columns, /*text=*/false, observer);
}

// As a file of bytes is binarised.
void BinariseRows(RowTable& table, const DataOptions& options, uint64_t seed) {
  Binariser binariser(ReadOptions(options, seed, table.columns), 255);
  const auto bad = binariser.Convert(table.values.data(), table.rows, table.columns, 0, table.values.data());
  if (bad)
    throw Error(ErrorCode::kBadData,
                fmt::format("row {}, column {} {}", bad->row + 1, bad->column + 1, bad->why));
  if (binariser.SuspectsBinary())
    throw OptionError("binarise",
                      "is for grey levels from 0 to 255, but the data holds only 0 and 1; leave it out");
}

}  // namespace

void DataOptions::Describe(Declare<DataOptions>& declare) {
  using O = DataOptions;
  declare.Section("data");
  declare("data", &O::data, "FILE",
          "rows to train on: .npy, .bits.npy, .csv, .tsv, .idx, each also .gz, or synth:NAME")
      .MayChange();
  declare("validation", &O::validation, "FILE", "rows to validate on; else a part of the data is held out")
      .MayChange();
  declare("validation_fraction", &O::validation_fraction, "[0, 1)", "part of the data held out; 0: none");
  declare("validation_rows", &O::validation_rows, "[1, 1000000]", "rows of one validation, at most");
  declare(
      "binarise", &O::binarise,
      {{"strict", Binarise::kStrict},
       {"threshold", Binarise::kThreshold},
       {"once", Binarise::kStochastic},
       {"dynamic", Binarise::kGrey}},
      "values that are not 0 or 1: refused, cut at the threshold, drawn once, or drawn anew at every use");
  declare("threshold", &O::threshold, "[0, 1]", "values at or above it become 1")
      .When("binarise", "threshold");
  declare.All(&O::table);
}

Dataset OpenDataset(const DataOptions& options, uint64_t seed, int64_t columns, Observer& observer,
                    const Variables& known) {
  if (options.data.empty()) throw OptionError("data", "must name a file of rows, or synth:NAME");
  const int64_t wanted = columns != 0 ? columns : options.table.Width();
  if (!IsSynthetic(options.data)) return FromFile(options, seed, wanted, known, observer);
  RefuseTableOptions(options, "synthetic");
  return FromSynthetic(options, seed, wanted, observer);
}

Dataset DatasetFromRows(RowTable rows, const DataOptions& options, uint64_t seed) {
  if (rows.rows < 1 || rows.columns < 1) throw Error(ErrorCode::kBadData, "there are no rows to train on");
  if (std::ssize(rows.values) != rows.rows * rows.columns)
    throw Error(ErrorCode::kBadData,
                fmt::format("{} values are not {} rows of {}", rows.values.size(), rows.rows, rows.columns));
  BinariseRows(rows, options, seed);
  RowStore store(rows.columns, options.binarise == Binarise::kGrey);
  store.Append(rows.values);
  Observer nobody;
  return FromStore(std::move(store), options, seed, nobody);
}

}  // namespace ort_ed
