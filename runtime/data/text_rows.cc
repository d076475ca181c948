#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/data/binarise.h"
#include "runtime/data/formats.h"
#include "runtime/data/text_cells.h"
#include "runtime/support/limits.h"

namespace ort_ed {
namespace {

constexpr size_t kScaleSampleBytes = size_t{1} << 16;

// Not more than one beyond the limit: a cell takes more memory than its comma.
std::vector<std::string> Cells(std::string_view line, char separator) {
  std::vector<std::string> cells;
  CellSplitter splitter(line, separator);
  for (auto cell = splitter.Next(); cell && std::ssize(cells) <= kMaxColumns; cell = splitter.Next())
    cells.emplace_back(*cell);
  return cells;
}

// Control characters would end or disturb a message.
std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return printable;
}

// Most cells are no numbers (one alone is a mistake in a row), or the cells are the column numbers that
// pandas writes where there are no names.
bool IsHeader(const std::vector<std::string>& cells) {
  bool counts = cells.size() >= 3;
  const double start = ReadNumber(cells[0]).value_or(-1);
  counts &= start == 0 || start == 1;
  size_t words = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::optional<double> number = ReadNumber(cells[i]);
    words += !number;
    counts &= number == start + static_cast<double>(i);
  }
  return counts || 2 * words > cells.size();
}

// The value of level 1 in grey text: 255 if anything above 1 shows in the sample. Half of 5e-01 would.
double LevelOne(std::string_view sample, char separator) {
  if (sample.size() == kScaleSampleBytes) {
    const char ends[] = {'\n', separator};
    sample = sample.substr(0, sample.find_last_of(std::string_view(ends, sizeof(ends))));
  }
  while (!sample.empty()) {
    const size_t end = std::min(sample.find('\n'), sample.size());
    CellSplitter splitter(sample.substr(0, end), separator);
    while (const auto cell = splitter.Next())
      if (ReadNumber(*cell).value_or(0) > 1) return 255;
    sample.remove_prefix(std::min(end + 1, sample.size()));
  }
  return 1;
}

class TextRows : public RowReader {
 public:
  TextRows(InputStream stream, const RowOptions& options)
      : lines_(std::move(stream)), options_(options), binariser_(ReadHeader()) {
    CheckWidth(lines_.stream(), columns_, options);
    values_.resize(static_cast<size_t>(columns_));
  }

  int64_t columns() const override { return columns_; }
  std::optional<int64_t> rows() const override { return std::nullopt; }
  std::vector<std::string> column_names() const override { return names_; }

  int64_t Read(std::span<uint8_t> rows) override {
    const int64_t wanted = static_cast<int64_t>(rows.size()) / columns_;
    int64_t done = 0;
    for (; done < wanted; ++done) {
      if (done > 0 && lines_.MustWait()) break;  // what is there comes first
      const std::optional<std::string_view> line = lines_.Current();
      if (!line) break;
      ParseLine(*line, rows.data() + done * columns_);
      lines_.Advance();
      ++next_;
    }
    return done;
  }

 private:
  Binariser ReadHeader() {
    const InputStream& stream = lines_.stream();
    const auto line = lines_.Current();
    if (!line) stream.Fail("has no rows: it is empty or has only blank lines; rows of 0 and 1 are expected");
    if (line->find('\0') != std::string_view::npos)
      stream.Fail("is neither text (.csv, .tsv) nor a .npy or IDX file; convert it to one of them");
    separator_ = FindSeparator(*line);
    first_line_ = lines_.number();
    std::vector<std::string> cells = Cells(*line, separator_);
    columns_ = static_cast<int64_t>(cells.size());
    if (columns_ > kMaxColumns) stream.Fail("has more than " + std::to_string(kMaxColumns) + " columns");
    if (IsHeader(cells)) {
      names_ = std::move(cells);
      lines_.Advance();
      if (!lines_.Current()) stream.Fail("has a header but no rows");
    }
    const bool strict = options_.binarise == Binarise::kStrict;
    return Binariser(options_, strict ? 1 : LevelOne(lines_.Sample(kScaleSampleBytes), separator_));
  }

  void ParseLine(std::string_view line, uint8_t* out) {
    const auto columns = static_cast<size_t>(columns_);
    const bool strict = options_.binarise == Binarise::kStrict;
    if (strict && ParseBits(line, separator_, out, columns)) return;
    if (strict || !ParseLevels(line, separator_, values_.data(), columns)) ParseCells(line);
    if (const auto bad = binariser_.Convert(values_.data(), 1, columns_, static_cast<uint64_t>(next_), out))
      FailCell(bad->column, bad->why);
  }

  void ParseCells(std::string_view line) {
    CellSplitter splitter(line, separator_);
    int64_t count = 0;
    for (; const auto cell = splitter.Next(); ++count)
      if (count < columns_) values_[static_cast<size_t>(count)] = ParseCell(*cell, count);
    if (count != columns_)
      lines_.stream().Fail("line " + std::to_string(lines_.number()) + " has " + std::to_string(count) +
                           " cells, but line " + std::to_string(first_line_) + " has " +
                           std::to_string(columns_) + "; every row must have as many");
  }

  double ParseCell(std::string_view cell, int64_t column) const {
    constexpr size_t kShown = 40;
    const std::optional<double> number = ReadNumber(cell);
    if (!number)
      FailCell(column,
               "is '" + Printable(cell.substr(0, kShown)) + "', not a number; only 0 and 1 are allowed");
    if (*number != *number && !options_.allow_missing)
      FailCell(column, cell.empty()
                           ? "is empty; fill it in or remove the row"
                           : "is '" + std::string(cell) + "', a missing value; fill it in or remove the row");
    return *number;
  }

  [[noreturn]] void FailCell(int64_t column, const std::string& why) const {
    lines_.stream().Fail("line " + std::to_string(lines_.number()) + ", column " +
                         std::to_string(column + 1) + " " + why);
  }

  TextLines lines_;
  RowOptions options_;
  char separator_ = ',';
  int64_t first_line_ = 0;
  int64_t columns_ = 0;
  std::vector<std::string> names_;
  Binariser binariser_;
  std::vector<double> values_;
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> OpenTextRows(InputStream stream, const RowOptions& options) {
  return std::make_unique<TextRows>(std::move(stream), options);
}

}  // namespace ort_ed
