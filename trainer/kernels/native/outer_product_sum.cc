#include "trainer/kernels/native/outer_product_sum.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Known sizes become a few moves where std::copy_n would be a call.
template <size_t kColumns>
void CopyBlocks(size_t blocks, const float* in, float* out, size_t out_stride) {
  for (size_t b = 0; b < blocks; ++b, in += kColumns, out += out_stride) {
    std::memcpy(out, in, kColumns * sizeof(float));
  }
}

}  // namespace

OuterProductSum::OuterProductSum(const SimdKernels& simd, size_t left_columns, size_t taps,
                                 size_t right_columns, size_t parts, float* result)
    : tile_(simd.TileFor(right_columns)),
      left_columns_(left_columns),
      taps_(taps),
      right_columns_(right_columns),
      panel_(tile_.width),
      right_blocks_(DivideUp(right_columns, panel_)),
      row_size_(taps * right_blocks_ * panel_),
      parts_(parts),
      first_(row_size_ == taps * right_columns ? result : nullptr),
      sums_((parts - (first_ != nullptr)) * left_columns * row_size_ * sizeof(float)),
      positions_(parts),
      aside_(parts) {}

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
  const size_t whole = right_columns_ / panel_, rest = right_columns_ % panel_;
  const size_t block_size = block_rows * panel_;
  const auto copy_blocks = panel_ == 32   ? CopyBlocks<32>
                           : panel_ == 16 ? CopyBlocks<16>
                           : panel_ == 8  ? CopyBlocks<8>
                           : panel_ == 4  ? CopyBlocks<4>
                                          : CopyBlocks<2>;
  for (size_t r = 0; r < rows; ++r, right += stride, packed += panel_) {
    copy_blocks(whole, right, packed, block_size);
    if (rest == 0) continue;
    float* last = packed + whole * block_size;
    std::copy_n(right + whole * panel_, rest, last);
    std::fill(last + rest, last + panel_, 0.0f);
  }
}

void OuterProductSum::PutAside(size_t part) {
  const std::span<const float> sums(Part(part), left_columns_ * row_size_);
  std::vector<float>& aside = aside_[part];
  if (aside.empty()) {
    aside.assign(sums.begin(), sums.end());
  } else {
    std::ranges::transform(aside, sums, aside.begin(), std::plus());
  }
  positions_[part] = 0;
}

void OuterProductSum::FinishParts() {
  for (size_t part = 0; part < parts_; ++part) {
    if (!aside_[part].empty()) {
      PutAside(part);
      std::ranges::copy(aside_[part], Part(part));
      aside_[part].clear();
    } else if (positions_[part] == 0) {
      std::fill_n(Part(part), left_columns_ * row_size_, 0.0f);
    }
  }
}

void OuterProductSum::Add(size_t part, size_t positions, const float* packed_left, const float* const* right,
                          size_t block_stride, ReadAhead& ahead) {
  if (positions_[part] + positions > kLongestSum && positions_[part] > 0) PutAside(part);
  const bool add = positions_[part] > 0;
  positions_[part] += positions;
  for (size_t block = 0; block < right_blocks_; ++block) {
    for (size_t l = 0; l < left_columns_; l += kRows) {
      const auto outer_products = tile_.outer_products[std::min(kRows, left_columns_ - l) - 1];
      float* out = Part(part) + l * row_size_ + block * panel_;
      for (size_t tap = 0; tap < taps_; ++tap) {
        ahead.Step();
        outer_products(positions, packed_left + l * positions, right + tap * positions, block * block_stride,
                       out + tap * right_blocks_ * panel_, row_size_, add);
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
