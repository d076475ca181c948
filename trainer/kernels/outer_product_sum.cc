#include "trainer/kernels/outer_product_sum.h"

#include <cstring>

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Known sizes become a few moves where std::copy_n would be a call.
template <size_t kColumns>
void CopyBlock(size_t rows, const float* in, size_t stride, float* out) {
  for (size_t r = 0; r < rows; ++r, out += kColumns)
    std::memcpy(out, in + r * stride, kColumns * sizeof(float));
}

void CopyNarrowBlock(size_t rows, size_t columns, const float* in, size_t stride, float* out, size_t width) {
  for (size_t r = 0; r < rows; ++r, out += width) {
    std::copy_n(in + r * stride, columns, out);
    std::fill(out + columns, out + width, 0.0f);
  }
}

}  // namespace

OuterProductSum::OuterProductSum(const SimdKernels& simd, size_t left_columns, size_t taps,
                                 size_t right_columns, size_t parts)
    : simd_(simd),
      left_columns_(left_columns),
      taps_(taps),
      right_columns_(right_columns),
      panel_(simd.panel),
      right_blocks_(DivideUp(right_columns, panel_)),
      row_size_(taps * right_blocks_ * panel_),
      parts_(parts),
      sums_(parts * left_columns * row_size_ * sizeof(float)) {}

size_t OuterProductSum::Parts(size_t positions, size_t size, size_t min_part_positions) {
  // Not more memory than a large layer can spare.
  constexpr size_t kMaxParts = 16, kMaxFloats = size_t{16} << 20;
  const size_t affordable = std::clamp<size_t>(kMaxFloats / std::max<size_t>(size, 1), 4, kMaxParts);
  return std::clamp<size_t>(positions / min_part_positions, 1, affordable);
}

size_t OuterProductSum::PackedLeftSize(size_t positions) const {
  return DivideUp(left_columns_, kRows) * kRows * positions;
}

void OuterProductSum::PackLeft(size_t positions, const float* left, size_t stride, float* packed) const {
  const size_t whole = left_columns_ / kRows, rest = left_columns_ % kRows;
  for (size_t p = 0; p < positions; ++p, left += stride, packed += kRows) {
    for (size_t group = 0; group < whole; ++group) {
      std::memcpy(packed + group * positions * kRows, left + group * kRows, kRows * sizeof(float));
    }
    std::copy_n(left + whole * kRows, rest, packed + whole * positions * kRows);
  }
}

void OuterProductSum::PackRight(size_t rows, const float* right, size_t stride, float* packed,
                                size_t block_rows) const {
  for (size_t c = 0; c < right_columns_; c += panel_) {
    const size_t count = std::min(panel_, right_columns_ - c);
    float* out = packed + c * block_rows;
    if (count == 16) {
      CopyBlock<16>(rows, right + c, stride, out);
    } else if (count == panel_ && panel_ == 8) {
      CopyBlock<8>(rows, right + c, stride, out);
    } else {
      CopyNarrowBlock(rows, count, right + c, stride, out, panel_);
    }
  }
}

void OuterProductSum::Clear(size_t part) { std::fill_n(Part(part), left_columns_ * row_size_, 0.0f); }

void OuterProductSum::Add(size_t part, size_t positions, const float* packed_left, const float* const* right,
                          size_t block_stride, ReadAhead& ahead) {
  for (size_t block = 0; block < right_blocks_; ++block) {
    for (size_t l = 0; l < left_columns_; l += kRows) {
      const auto outer_products = simd_.outer_products[std::min(kRows, left_columns_ - l) - 1];
      float* out = Part(part) + l * row_size_ + block * panel_;
      for (size_t tap = 0; tap < taps_; ++tap) {
        ahead.Step();
        outer_products(positions, packed_left + l * positions, right + tap * positions, block * block_stride,
                       out + tap * right_blocks_ * panel_, row_size_);
      }
    }
  }
}

const float* OuterProductSum::AddParts(size_t l) {
  float* sum = Part(0) + l * row_size_;
  for (size_t part = 1; part < parts_; ++part) {
    const float* other = Part(part) + l * row_size_;
    for (size_t i = 0; i < row_size_; ++i) sum[i] += other[i];
  }
  return sum;
}

}  // namespace ort_ed
