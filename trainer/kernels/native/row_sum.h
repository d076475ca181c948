#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// So many numbers are added one after the other; longer sums are sums of such sums. The rounding of a sum in
// float grows with its length: 4e-3 of the whole at millions.
inline constexpr size_t kLongestSum = 2048;

// The sum of rows. Up to kLongestSum rows it has the bits of a plain sum.
class RowSum {
 public:
  explicit RowSum(size_t columns) : sum_(columns) {}

  void Add(const SimdKernels& simd, size_t rows, const float* first, size_t stride) {
    while (rows > 0) {
      if (rows_ == kLongestSum) PutAside(simd);
      const size_t now = std::min(rows, kLongestSum - rows_);
      simd.add_rows(now, sum_.size(), first, stride, sum_.data());
      rows_ += now;
      rows -= now;
      first += now * stride;
    }
  }

  // Stores the sum; nothing is added afterwards.
  void Finish(const SimdKernels& simd, float* result) {
    if (!aside_.empty()) PutAside(simd);
    std::ranges::copy(aside_.empty() ? sum_ : aside_, result);
  }

 private:
  void PutAside(const SimdKernels& simd) {
    aside_.resize(sum_.size());
    simd.add_rows(1, sum_.size(), sum_.data(), sum_.size(), aside_.data());
    std::ranges::fill(sum_, 0.0f);
    rows_ = 0;
  }

  size_t rows_ = 0;  // in sum_
  std::vector<float> sum_, aside_;
};

// Stores the sum of all parts, in their order.
inline void FinishParts(const SimdKernels& simd, std::span<RowSum> parts, size_t columns, float* result) {
  RowSum total(columns);
  for (RowSum& part : parts) {
    part.Finish(simd, result);
    total.Add(simd, 1, result, columns);
  }
  total.Finish(simd, result);
}

// The sum of the rows of a matrix.
void SumRows(const KernelContext& context, size_t rows, size_t columns, const float* in, float* result);

}  // namespace ort_ed
