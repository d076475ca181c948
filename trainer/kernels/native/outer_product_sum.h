#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trainer/kernels/native/gemm.h"
#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {

// The sum of outer products that is the weight gradient of dense layers and convolutions:
//   sum[l, tap, r] = sum over positions p of left[p, l] * right[tap, p, r].
// The caller splits the positions into parts (by their number alone) that are summed separately, one thread
// each, and added in order at the end, so that the result does not depend on the number of threads. Inside a
// part, sums longer than kLongestSum are sums of such sums.
class OuterProductSum {
 public:
  // `result`, if there is one, has room for left_columns x taps x right_columns sums. Where these need no
  // padding the first part is summed there, so that Row(0, l) is the place of the result already.
  OuterProductSum(const SimdKernels& simd, size_t left_columns, size_t taps, size_t right_columns,
                  size_t parts, float* result = nullptr);

  // How many parts to make of a sum over `positions` whose result has `size` floats. Many positions a part
  // make adding the parts cheap.
  static size_t Parts(size_t positions, size_t size, size_t min_part_positions = 1024);

  size_t panel() const { return panel_; }
  // The right side's rows come in blocks of panel() columns, padded with zeros.
  size_t right_blocks() const { return right_blocks_; }
  // Floats of `positions` rows of the left side after PackLeft.
  size_t PackedLeftSize(size_t positions) const;
  void PackLeft(size_t positions, const float* left, size_t stride, float* packed) const;

  // Rows of the right side -> [block][block_rows >= rows][panel()].
  void PackRight(size_t rows, const float* right, size_t stride, float* packed, size_t block_rows) const;

  // right: pointers [tap][position] to the first block of a row; a row's next block lies block_stride
  // further.
  void Add(size_t part, size_t positions, const float* packed_left, const float* const* right,
           size_t block_stride, ReadAhead& ahead);
  void Add(size_t part, size_t positions, const float* packed_left, const float* const* right,
           size_t block_stride) {
    ReadAhead nothing;
    Add(part, positions, packed_left, right, block_stride, nothing);
  }
  // The steps of `ahead` that Add() takes.
  size_t TileCount() const { return DivideUp(left_columns_, SimdKernels::kRows) * taps_ * right_blocks_; }

  // After the last Add(), before Row().
  void FinishParts();
  // The sums of a part: [tap][right_blocks() * panel()].
  const float* Row(size_t part, size_t l) const { return Part(part) + l * row_size_; }

  // Adds the parts and calls take(l, sums) with sums[tap * right_blocks() * panel() + r] for each l, on
  // several threads.
  template <typename Take>
  void Finish(const TaskRunner& run_tasks, Take take) {
    constexpr size_t kTaskRows = 8;
    FinishParts();
    run_tasks(DivideUp(left_columns_, kTaskRows), [&](size_t task) {
      const size_t end = std::min(left_columns_, (task + 1) * kTaskRows);
      for (size_t l = task * kTaskRows; l < end; ++l) take(l, AddParts(l));
    });
  }

 private:
  float* Part(size_t part) const {
    if (first_ == nullptr) return sums_.floats() + part * left_columns_ * row_size_;
    return part == 0 ? first_ : sums_.floats() + (part - 1) * left_columns_ * row_size_;
  }
  const float* AddParts(size_t l);
  void PutAside(size_t part);

  const SimdKernels::Tile& tile_;
  size_t left_columns_, taps_, right_columns_, panel_, right_blocks_;
  size_t row_size_;  // taps * right_blocks * panel
  size_t parts_;
  float* first_;                           // the first part, if the caller keeps it
  AlignedBuffer sums_;                     // the others: [part][l][tap][r]
  std::vector<size_t> positions_;          // in the sums of each part
  std::vector<std::vector<float>> aside_;  // of each part: the sum of its earlier sums
};

}  // namespace ort_ed
