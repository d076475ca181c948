#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/data/row_reader.h"

namespace ort_ed {

struct BadCell {
  int64_t row = 0;  // within the block
  int64_t column = 0;
  std::string why;  // "is 7; ..."
};

// Turns cells of any type into what RowReader::Read() gives, as RowOptions asks.
class Binariser {
 public:
  // `one`: the value of level 1, 255 for integers and 1 for floats.
  Binariser(const RowOptions& options, double one);

  // `first_row` is the number of the block's first row within the file. Stops at the first cell that cannot
  // be converted. `out` may be `cells`. Missing cells of floats are NaN.
  template <typename T>
  std::optional<BadCell> Convert(const T* cells, int64_t rows, int64_t columns, uint64_t first_row,
                                 uint8_t* out);

  // True if grey integers were asked for but nothing above 1 was ever met: the data is binary already, and
  // 1 / 255 is surely not what was meant.
  bool SuspectsBinary() const { return options_.binarise != Binarise::kStrict && one_ > 1 && highest_ <= 1; }

 private:
  template <typename T>
  bool Strict(const T* cells, int64_t count, uint8_t* out) const;
  template <typename T>
  bool InRange(const T* cells, int64_t count);
  template <typename T>
  void FromLevels(const T* cells, int64_t count, uint64_t row, uint8_t* out) const;
  template <typename T>
  std::string Explain(T value) const;
  template <typename T>
  bool Acceptable(T value) const;

  RowOptions options_;
  double one_;
  double highest_ = 0;
};

}  // namespace ort_ed
