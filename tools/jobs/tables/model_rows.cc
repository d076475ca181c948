#include "tools/jobs/tables/model_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "ort_ed/options.h"
#include "runtime/data/formats.h"
#include "runtime/data/text_cells.h"
#include "tools/jobs/explain/variable_names.h"
#include "tools/jobs/tables/guess_variables.h"

namespace ort_ed {
namespace {

// Checks that every variable has one of its states.
class CheckedRows : public RowReader {
 public:
  CheckedRows(std::unique_ptr<RowReader> rows, std::string path, const Variables& variables)
      : rows_(std::move(rows)), path_(std::move(path)), variables_(variables) {}

  int64_t columns() const override { return rows_->columns(); }
  std::optional<int64_t> rows() const override { return rows_->rows(); }
  std::vector<std::string> column_names() const override { return rows_->column_names(); }

  int64_t Read(std::span<uint8_t> rows) override {
    const int64_t count = rows_->Read(rows);
    const auto width = static_cast<size_t>(columns());
    for (int64_t i = 0; i < count; ++i, ++next_) Check(rows.subspan(static_cast<size_t>(i) * width, width));
    return count;
  }

 private:
  void Check(std::span<const uint8_t> row) const {
    if (std::ranges::find(row, kMissingValue) != row.end()) return CheckHoles(row);
    if (const auto broken = variables_.FindBroken(row))
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' row {}: {}", path_, next_ + 1, variables_.DescribeBroken(row, *broken)));
  }

  void CheckHoles(std::span<const uint8_t> row) const {
    for (int64_t v = 0; v < variables_.size(); ++v) {
      const auto own =
          row.subspan(static_cast<size_t>(variables_.first_bit(v)), static_cast<size_t>(variables_.bits(v)));
      const auto missing = std::ranges::count(own, kMissingValue), ones = std::ranges::count(own, 1);
      const bool good = missing == std::ssize(own) || (missing == 0 && (own.size() == 1 || ones == 1));
      if (!good)
        throw Error(
            ErrorCode::kBadData,
            fmt::format("'{}' row {}: the {} states of '{}' (columns {} to {}) must be all missing, or "
                        "exactly one of them 1",
                        path_, next_ + 1, own.size(), variables_.Name(v), variables_.first_bit(v) + 1,
                        variables_.first_bit(v) + variables_.bits(v)));
    }
  }

  std::unique_ptr<RowReader> rows_;
  std::string path_;
  Variables variables_;
  int64_t next_ = 0;
};

// The cells of the first line, which stays to be read.
std::vector<std::string> PeekCells(InputStream& stream) {
  constexpr size_t kMostBytes = size_t{1} << 26;
  while (stream.Buffered().find('\n') == std::string_view::npos && stream.Buffered().size() < kMostBytes) {
    const size_t known = stream.Buffered().size();
    if (stream.Peek(known + 1).size() == known) break;
  }
  std::string_view line = stream.Buffered().substr(0, stream.Buffered().find('\n'));
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> cells;
  CellSplitter splitter(line, FindSeparator(line));
  while (const auto cell = splitter.Next()) cells.emplace_back(*cell);
  return cells;
}

bool IsBit(const std::string& cell) { return cell == "0" || cell == "1"; }

bool AreBare(const Variables& variables) {
  if (!variables.all_binary()) return false;
  for (int64_t v = 0; v < variables.size(); ++v)
    if (!variables[v].labels.empty()) return false;
  return true;
}

bool IsMissing(const std::string& cell) {
  const auto number = ReadNumber(cell);
  return number && std::isnan(*number);
}

bool AreNamesOf(const std::vector<std::string>& cells, const Variables& variables) {
  for (int64_t v = 0; v < variables.size(); ++v)
    if (cells[static_cast<size_t>(v)] != variables[v].name) return false;
  return true;
}

// Whether a text holds the bits themselves and not the table they stand for.
bool HoldsBits(const std::vector<std::string>& first, const Variables& variables, const RowOptions& options) {
  if (options.binarise != Binarise::kStrict) return true;
  if (std::ssize(first) != variables.dimension()) return false;
  if (AreBare(variables) && AreNamesOf(first, variables)) return !std::ranges::all_of(first, IsBit);
  return std::ranges::all_of(first, [&](const std::string& cell) {
    return IsBit(cell) || (options.allow_missing && IsMissing(cell));
  });
}

std::string Describe(const Strangers& strangers, const std::string& path, int64_t rows) {
  const std::string example =
      strangers.example.empty() ? "an empty cell" : "'" + Shortened(strangers.example) + "'";
  const int64_t cells = strangers.others + strangers.nearest;
  const char* counted = strangers.nearest == 0  ? "share the state of rare and unseen ones"
                        : strangers.others == 0 ? "count as the nearest"
                                                : "count as the nearest, or share the state of others";
  return fmt::format(
      "'{}', column '{}': {} of {} cells have values that the training did not have, such as {} "
      "in line {}, and {}",
      path, strangers.column, cells, rows, example, strangers.line, counted);
}

std::string Describe(const BarePercentages& bare, const std::string& path, const std::string& column) {
  return fmt::format(
      "'{}', column '{}' has percentages, and {} cells of it are numbers below 1 without a %, such as '{}' "
      "in "
      "line {}: '{}' is read as {} %; if they are parts of 1 write them as percentages, 45% for 0.45",
      path, column, bare.cells, bare.example, bare.line, bare.example, bare.example);
}

void WarnOfBarePercentages(const TableRows& rows, const std::string& path, JobResult& result,
                           Observer& observer) {
  for (const Strangers& strangers : rows.strangers())
    if (strangers.bare.cells > 0) Warn(Describe(strangers.bare, path, strangers.column), result, observer);
}

[[noreturn]] void RefuseId() {
  throw OptionError("id", "names a column of a table (.csv, .tsv), and the data has none",
                    OptionError::Problem::kNoEffect);
}

}  // namespace

ModelRows OpenModelRows(const std::string& path, const Variables& variables, const RowOptions& options,
                        TableRowOptions table) {
  ModelRows result;
  if (!variables.described()) {
    if (!table.id.empty()) RefuseId();
    result.reader = OpenRows(path, options);
    return result;
  }
  InputStream stream(path);
  const bool text = IsText(stream);
  const bool has_columns = text && !HoldsBits(PeekCells(stream), variables, options);
  if (!table.id.empty() && !text) RefuseId();
  if (has_columns || !table.id.empty()) {
    table.allow_missing = options.allow_missing;
    auto rows = OpenTableRows(std::move(stream), variables, table);
    result.table = rows.get();
    result.reader = std::move(rows);
    return result;
  }
  result.reader = OpenRows(std::move(stream), path, options);
  if (!variables.all_binary())
    result.reader = std::make_unique<CheckedRows>(std::move(result.reader), path, variables);
  return result;
}

// A column more in front, and each value would be taken for that of its neighbour.
void WarnOfUnknownColumns(const TableRows& rows, const std::string& path, JobResult& result,
                          Observer& observer) {
  if (const int64_t more = rows.unknown_columns(); more > 0)
    Warn(fmt::format("'{}' has no names of columns, so that they are taken by their places, and {} more than "
                     "the model knows; if they do not stand in the order of the training, write a first line "
                     "of names: column_1, column_2, ...",
                     path, more == 1 ? "one" : std::to_string(more)),
         result, observer);
}

void TellOfStrangers(const ModelRows& rows, const std::string& path, JobResult& result, Observer& observer) {
  constexpr int64_t kMany = 20, kMostColumns = 10;  // one cell in so many is worth a warning
  if (rows.table == nullptr) return;
  WarnOfUnknownColumns(*rows.table, path, result, observer);
  WarnOfBarePercentages(*rows.table, path, result, observer);
  int64_t columns = 0;
  for (const Strangers& strangers : rows.table->strangers()) {
    const int64_t cells = strangers.others + strangers.nearest;
    if (cells == 0 || ++columns > kMostColumns) continue;
    const std::string text = Describe(strangers, path, rows.table->rows_read());
    if (cells * kMany < rows.table->rows_read())
      observer.OnNotice(text);
    else
      Warn(text, result, observer);
  }
  if (columns > kMostColumns)
    observer.OnNotice(fmt::format("'{}': the same in {} more columns", path, columns - kMostColumns));
}

RowTable ReadModelRows(const std::string& path, const Variables& variables, const RowOptions& options,
                       int64_t max_rows) {
  return ReadAll(*OpenModelRows(path, variables, options).reader, max_rows);
}

ModelData ReadModelData(const std::string& path, const Variables& variables, const RowOptions& options,
                        Observer& observer) {
  const ModelRows rows = OpenModelRows(path, variables, options);
  JobResult reading;
  ModelData data{
      .rows = ReadAll(*rows.reader, 0), .names = NameBits(variables, *rows.reader), .warnings = {}};
  TellOfStrangers(rows, path, reading, observer);
  data.warnings = std::move(reading.warnings);
  return data;
}

void AddWarningsOf(const ModelData& data, JobResult& result) {
  result.warnings.insert(result.warnings.begin(), data.warnings.begin(), data.warnings.end());
}

}  // namespace ort_ed
