#pragma once

#include <cstddef>

#include "trainer/kernels/conv/conv_grid.h"

namespace ort_ed {

// What the parts of Winograd's convolution share.

// The 36 parts of what is transformed lie a cache line further apart than needed: at equal distances of 4 KB
// they would all share one set of the cache.
constexpr size_t kCacheLine = 16;  // floats

constexpr size_t kTile = 4, kPatch = 6, kProducts = kPatch * kPatch;
constexpr size_t kWeights = 9;  // of a kernel

// The tiles that cover a result image, and where its 6 x 6 patches lie in the source.
struct Tiling {
  ImageShape source, result;
  size_t pad_top, pad_left;

  size_t rows() const { return DivideUp(result.height, kTile); }
  size_t columns() const { return DivideUp(result.width, kTile); }
  size_t tiles() const { return rows() * columns(); }

  // Pointers to the pixels of a square of `size` at (y, x) of an image; `outside` for those that are not
  // there.
  template <typename Pointer>
  static void Square(const ImageShape& image, ptrdiff_t y, ptrdiff_t x, size_t size, Pointer pixels,
                     Pointer outside, Pointer* square) {
    const ptrdiff_t height = image.height, width = image.width, end = size, channels = image.channels;
    for (ptrdiff_t i = y; i < y + end; ++i) {
      for (ptrdiff_t j = x; j < x + end; ++j) {
        const bool inside = i >= 0 && i < height && j >= 0 && j < width;
        *square++ = inside ? pixels + (i * width + j) * channels : outside;
      }
    }
  }

  // The square of the source that tile `t` of an image needs, and the one of the result that it covers.
  void SourceSquare(size_t t, const float* pixels, const float* outside, const float** square) const {
    Square(source, static_cast<ptrdiff_t>(t / columns() * kTile) - static_cast<ptrdiff_t>(pad_top),
           static_cast<ptrdiff_t>(t % columns() * kTile) - static_cast<ptrdiff_t>(pad_left), kPatch, pixels,
           outside, square);
  }
  template <typename Pointer>
  void ResultSquare(size_t t, Pointer pixels, Pointer outside, Pointer* square) const {
    Square(result, t / columns() * kTile, t % columns() * kTile, kTile, pixels, outside, square);
  }
};

}  // namespace ort_ed
