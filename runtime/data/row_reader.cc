#include "runtime/data/row_reader.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ort_ed/error.h"
#include "runtime/data/formats.h"
#include "runtime/data/npy.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/support/limits.h"

namespace ort_ed {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::string_view kIdxMagic = "\0\0"sv;
constexpr size_t kLongestMagic = 8;

// Formats that people have and that are not read: what to do instead.
struct ForeignFormat {
  std::string_view magic;
  const char* advice;
};
constexpr char kJsonAdvice[] =
    "is JSON, which is not read; make a CSV of it first, for example: python3 -c \"import pandas; "
    "pandas.read_json('x.json').to_csv('x.csv', index=False)\" (of a file with an object in each line: "
    "read_json('x.jsonl', lines=True))";
constexpr char kPageAdvice[] = "is a web page and not the file that was meant; download it again";
constexpr std::array kForeignFormats = {
    ForeignFormat{
        "PK\x03\x04",
        "is a zip archive; if it is a workbook of Excel (.xlsx) save its sheet as CSV UTF-8, if it is "
        ".npz extract the .npy file from it"},
    ForeignFormat{"\xd0\xcf\x11\xe0", "is a document of Office (.xls); save the sheet as CSV UTF-8"},
    ForeignFormat{"{\"", kJsonAdvice},
    ForeignFormat{"{\n", kJsonAdvice},
    ForeignFormat{"[{", kJsonAdvice},
    ForeignFormat{"[\n", kJsonAdvice},
    ForeignFormat{"<!DOCTYP", kPageAdvice},
    ForeignFormat{"<!doctyp", kPageAdvice},
    ForeignFormat{"<html", kPageAdvice},
    ForeignFormat{
        "SQLite ",
        "is a database of SQLite; make a CSV of a table first, for example: sqlite3 -header -csv x.db "
        "'select * from t' > x.csv"},
    ForeignFormat{"\x28\xb5\x2f\xfd", "is compressed with zstd; decompress it first, or use gzip"},
    ForeignFormat{"\xfd"
                  "7zXZ",
                  "is compressed with xz; decompress it first, or use gzip"},
    ForeignFormat{"BZh", "is compressed with bzip2; decompress it first, or use gzip"},
    ForeignFormat{"\x89HDF", "is an HDF5 file; save the array as .npy or .csv"},
    ForeignFormat{
        "PAR1",
        "is a Parquet file, which is not read; make a CSV of it first, for example: python3 -c \"import "
        "pandas; pandas.read_parquet('x.parquet').to_csv('x.csv', index=False)\""},
    ForeignFormat{
        "ARROW1",
        "is an Arrow file (.arrow, .feather), which is not read; make a CSV of it first, for example: "
        "python3 -c \"import pandas; pandas.read_feather('x.feather').to_csv('x.csv', index=False)\""},
    ForeignFormat{"MATLAB", "is a MATLAB file; save the array as .npy or .csv"},
    ForeignFormat{"\x89PNG", "is a picture; save the pixels as .npy or .csv"},
    ForeignFormat{"\xff\xfe", "is UTF-16 text; save it as UTF-8"},
    ForeignFormat{"\xfe\xff", "is UTF-16 text; save it as UTF-8"},
};

std::string_view WithoutGz(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path;
}

bool HasWidthOfPackedRows(const ArrayLayout& layout, int64_t columns) {
  return layout.type == CellType::kUint8 && layout.shape.size() == 2 && layout.shape[1] != columns &&
         layout.shape[1] == (columns + 7) / 8;
}

// Enough to tell the format by. A line that has ended is text: whoever wrote it into a pipe may wait for an
// answer.
std::string_view Start(InputStream& stream) {
  size_t size = 1;
  while (size < kLongestMagic && stream.Peek(size).size() >= size &&
         stream.Buffered().find('\n') == std::string_view::npos)
    ++size;
  return stream.Peek(size);
}

void RefuseForeign(const InputStream& stream, std::string_view start) {
  for (const ForeignFormat& format : kForeignFormats)
    if (start.starts_with(format.magic)) stream.Fail(format.advice);
}

bool IsIdx(std::string_view start) { return start.size() >= 4 && start.starts_with(kIdxMagic); }

}  // namespace

bool IsText(InputStream& stream) {
  const std::string_view start = Start(stream);
  if (start.starts_with(kNpyMagic) || IsIdx(start)) return false;
  RefuseForeign(stream, start);
  return true;
}

std::unique_ptr<RowReader> OpenRows(const std::string& path, const RowOptions& options) {
  return OpenRows(InputStream(path), path, options);
}

std::unique_ptr<RowReader> OpenRows(InputStream stream, const std::string& path, const RowOptions& options) {
  if (options.columns < 0 || options.columns > kMaxColumns)
    throw Error(ErrorCode::kInvalidArgument, "rows of " + std::to_string(options.columns) +
                                                 " columns cannot be read; at most " +
                                                 std::to_string(kMaxColumns) + " are possible");
  const std::string_view start = Start(stream);
  if (start.empty()) stream.Fail("is empty; rows of 0 and 1 are expected");
  if (start.starts_with(kNpyMagic)) {
    const ArrayLayout layout = ReadNpyHeader(stream);
    const bool named = WithoutGz(path).ends_with(".bits.npy");
    if (named || HasWidthOfPackedRows(layout, options.columns))
      return OpenPackedRows(std::move(stream), layout, options, !named);
    return OpenArrayRows(std::move(stream), layout, options);
  }
  if (WithoutGz(path).ends_with(".npy"))
    stream.Fail("is not a .npy file: it does not begin with the bytes \\x93NUMPY; write it with numpy.save");
  if (IsIdx(start)) {
    const ArrayLayout layout = ReadIdxHeader(stream);
    return OpenArrayRows(std::move(stream), layout, options);
  }
  RefuseForeign(stream, start);
  return OpenTextRows(std::move(stream), options);
}

RowTable ReadRows(const std::string& path, const RowOptions& options, int64_t max_rows) {
  return ReadAll(*OpenRows(path, options), max_rows);
}

RowTable ReadAll(RowReader& reader, int64_t max_rows) {
  constexpr int64_t kBlockBytes = int64_t{1} << 20;
  RowTable table{.rows = 0, .columns = reader.columns(), .values = {}};
  int64_t block = std::max<int64_t>(1, kBlockBytes / table.columns);
  for (;;) {
    if (max_rows > 0) block = std::min(block, max_rows - table.rows);
    const auto filled = static_cast<size_t>(table.rows * table.columns);
    table.values.resize(filled + static_cast<size_t>(block * table.columns));
    const int64_t count = reader.Read(std::span(table.values).subspan(filled));
    table.rows += count;
    table.values.resize(static_cast<size_t>(table.rows * table.columns));
    if (count == 0) return table;
  }
}

}  // namespace ort_ed
