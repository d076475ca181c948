#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/jobs/data/row_source.h"

namespace ort_ed {

// Rows in memory, packed to bits, or grey levels of which every draw makes new bits.
class RowStore {
 public:
  RowStore(int64_t columns, bool grey) : columns_(columns), grey_(grey) {}

  void Append(std::span<const uint8_t> rows);  // values 0/1, or grey levels 0..255; whole rows
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // Bits of a row; of a grey row, those that (seed, pass) draws.
  void Get(int64_t row, uint64_t seed, uint64_t pass, std::span<uint8_t> bits) const;
  void AddTo(int64_t row, std::span<double> sums) const;  // values of the row in [0, 1]
  std::string Hash() const;

 private:
  size_t RowBytes() const { return static_cast<size_t>(grey_ ? columns_ : (columns_ + 7) / 8); }

  int64_t columns_;
  bool grey_;
  int64_t rows_ = 0;
  std::vector<uint8_t> bytes_;
};

// Another order for every (seed, step).
void Shuffle(std::vector<uint32_t>& order, uint64_t seed, uint64_t step);

// Goes through `members` of a store again and again, each epoch in a new order, a pure function of the seed
// and the epoch: that of Shuffle() with the epochs as the steps from 1. Every epoch draws new bits of grey
// rows.
std::unique_ptr<RowSource> ShuffledRows(RowStore store, std::vector<uint32_t> members, uint64_t seed);

}  // namespace ort_ed
