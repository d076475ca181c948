#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ort_ed {

// How values that are not 0 or 1 become bits. The level of a cell, from 0 to 1, is value / 255 for integers
// and the value itself for booleans, packed bits and floats; in text it is value / 255 where a value above 1
// occurs within the first 64 KiB, else the value. A level outside [0, 1] is an error.
enum class Binarise {
  kStrict,      // they do not: any value but 0 and 1 is an error that names row and column
  kThreshold,   // a level at or above `threshold` is 1
  kStochastic,  // 1 with probability level, drawn from (seed, pass, row): reproducible
  kGrey,        // not binarised: Read() gives round(255 * level), to be drawn anew with BinariseGrey()
};

// What Read() gives for a missing value where RowOptions::allow_missing is set.
inline constexpr uint8_t kMissingValue = 255;

struct RowOptions {
  Binarise binarise = Binarise::kStrict;
  float threshold = 0.5f;
  uint64_t seed = 0;
  uint64_t pass = 0;  // stochastic binarisation draws anew for every pass
  // Expected width, an error if the file has another; needed for packed bits whose width is not a multiple of
  // 8. 0: as the file says.
  int64_t columns = 0;
  // Empty, NA, NaN and ? cells of text and NaN of float arrays are kMissingValue instead of an error. Only
  // with kStrict.
  bool allow_missing = false;
};

// Rows of {0,1} values from a file of any supported format, streamed: memory does not grow with the file.
// There is at least one row, and at least one column.
class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual int64_t columns() const = 0;
  virtual std::optional<int64_t> rows() const = 0;  // where the file tells
  // The header of a text file, as many as columns(); else empty.
  virtual std::vector<std::string> column_names() const { return {}; }
  // Fills up to rows.size() / columns() rows with 0 and 1; returns how many, 0 at the end. Throws kBadData
  // naming file, row and column.
  virtual int64_t Read(std::span<uint8_t> rows) = 0;
};

// `path`: .npy, .bits.npy, .csv, .tsv, .idx*, each also .gz; "-" is stdin. The format is told by the content
// first, then by the name. Throws kIo or kBadData.
//
// Arrays (.npy and IDX): the first axis counts the rows, the others are flattened into columns, so images
// [N, h, w] need no reshaping and a 1-D array is N rows of one value. Integers of any width, bool, float32
// and float64 of either byte order; C order only. Packed bits: a uint8 .npy [N, bytes] of
// numpy.packbits(axis=1) named *.bits.npy, or whose width is that of packed rows of `options.columns` values.
// Padding bits must be 0. Text: one row a line, separated by the first of tab, comma, semicolon or space that
// occurs in the first line. A first line most of whose cells are no numbers, or that counts 0,1,2,...
// or 1,2,3,..., is a header. Blank lines and lines that begin with # are skipped.
std::unique_ptr<RowReader> OpenRows(const std::string& path, const RowOptions& options = {});

// The bits of one row of grey levels 0..255, as kStochastic draws them for (seed, pass, row). `bits` may be
// `grey`.
void BinariseGrey(std::span<const uint8_t> grey, uint64_t seed, uint64_t pass, uint64_t row,
                  std::span<uint8_t> bits);

// A whole file in memory, for what is small.
struct RowTable {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<uint8_t> values;  // rows x columns

  std::span<const uint8_t> Row(int64_t row) const {
    return std::span(values).subspan(static_cast<size_t>(row * columns), static_cast<size_t>(columns));
  }
};
// At most `max_rows` rows, from the top; 0: all.
RowTable ReadRows(const std::string& path, const RowOptions& options = {}, int64_t max_rows = 0);
RowTable ReadAll(RowReader& reader, int64_t max_rows = 0);

}  // namespace ort_ed
