#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ort_ed {

// How values that are not 0 or 1 become bits.
enum class Binarise {
  kStrict,      // they do not: any value but 0 and 1 is an error that names row and column
  kThreshold,   // value / 255 (integers) or value (floats in [0, 1]) at or above `threshold` is 1
  kStochastic,  // 1 with probability value / 255 (or value), drawn from (seed, pass, row): reproducible
};

struct RowOptions {
  Binarise binarise = Binarise::kStrict;
  float threshold = 0.5f;
  uint64_t seed = 0;
  uint64_t pass = 0;  // stochastic binarisation draws anew for every pass
  int64_t columns =
      0;  // expected width; needed for packed bits whose width is not a multiple of 8. 0: as the file says
};

// Rows of {0,1} values from a file of any supported format, streamed: memory does not grow with the file.
class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual int64_t columns() const = 0;
  virtual std::optional<int64_t> rows() const = 0;  // where the file tells
  // Fills up to rows.size() / columns() rows with 0 and 1; returns how many, 0 at the end. Throws kBadData
  // naming file, row and column.
  virtual int64_t Read(std::span<uint8_t> rows) = 0;
};

// `path`: .npy, .bits.npy, .csv, .tsv, .idx*, each also .gz; "-" is stdin. The format is told by the content
// first, then by the name. Throws kIo or kBadData.
std::unique_ptr<RowReader> OpenRows(const std::string& path, const RowOptions& options = {});

}  // namespace ort_ed
