#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trainer/kernels/conv/conv2d.h"

namespace ort_ed {

// What the convolution, its input gradient and its weight gradient share: which pixel meets which weight
// where.

// Small images are worked on together until a task has at least so many positions.
constexpr size_t kConvTaskPositions = 256;

constexpr size_t kFewChannels = 8;

struct ImageShape {
  size_t channels, height, width;
  size_t pixels() const { return height * width; }
  size_t size() const { return channels * pixels(); }
};

inline ImageShape InputShape(const Conv2dShape& s) { return {s.in_channels, s.in_height, s.in_width}; }
inline ImageShape OutputShape(const Conv2dShape& s) { return {s.out_channels, s.out_height, s.out_width}; }

// A place of the kernel: which weight, and where its source pixel lies from the position's own.
struct Tap {
  ptrdiff_t y, x;
  size_t weight;
};

// Results on a regular grid that take the same taps: result (first_y + i * stride_y, first_x + j * stride_x)
// is the sum over taps of weights times source pixel (i * step_y + tap.y, j * step_x + tap.x), zero outside.
struct Grid {
  size_t height, width;
  size_t first_y, first_x, stride_y, stride_x;
  size_t step_y, step_x;
  std::vector<Tap> taps;
  size_t positions() const { return height * width; }
};

// Calls visit(position, tap number, source pixel) for all positions of all images, numbered through; pixel -1
// is outside the image.
template <typename Visit>
void VisitSources(const Grid& grid, size_t images, const ImageShape& source, Visit visit) {
  const ptrdiff_t height = source.height, width = source.width;
  size_t position = 0;
  for (ptrdiff_t n = 0; n < static_cast<ptrdiff_t>(images); ++n) {
    for (size_t i = 0; i < grid.height; ++i) {
      for (size_t j = 0; j < grid.width; ++j, ++position) {
        for (size_t t = 0; t < grid.taps.size(); ++t) {
          const ptrdiff_t y = static_cast<ptrdiff_t>(i * grid.step_y) + grid.taps[t].y;
          const ptrdiff_t x = static_cast<ptrdiff_t>(j * grid.step_x) + grid.taps[t].x;
          const bool inside = y >= 0 && y < height && x >= 0 && x < width;
          visit(position, t, inside ? (n * height + y) * width + x : -1);
        }
      }
    }
  }
}

// Images of few channels, or kernels of one tap, are better gathered: all taps of a position in one row.
inline bool GatheringPays(const Grid& grid, const ImageShape& source) {
  return grid.taps.size() == 1 || (grid.taps.size() > 1 && source.channels < kFewChannels);
}
// rows: [position][tap][channel].
void GatherTaps(const Grid& grid, size_t images, const ImageShape& source, const float* in, float* rows);

// Calls visit(position, result pixel).
template <typename Visit>
void VisitResults(const Grid& grid, size_t images, const ImageShape& result, Visit visit) {
  size_t position = 0;
  for (size_t n = 0; n < images; ++n) {
    for (size_t i = 0; i < grid.height; ++i) {
      for (size_t j = 0; j < grid.width; ++j, ++position) {
        const size_t y = grid.first_y + i * grid.stride_y, x = grid.first_x + j * grid.stride_x;
        visit(position, (n * result.height + y) * result.width + x);
      }
    }
  }
}

Grid ForwardGrid(const Conv2dShape& shape);

// The input's gradient takes from the output's: input pixel y met weight k in output (y + pad - k * dilation)
// / stride where that divides. So pixels of equal remainder share their taps, and no product with zero is
// made.
std::vector<Grid> InputGradGrids(const Conv2dShape& shape);

// Asks for memory that is about to be used all over, so that it arrives in the order in which it lies; not
// for more than the second-level cache holds.
constexpr size_t kPrefetchedFloats = 1 << 16;
inline void Prefetch(const float* data, size_t count) {
  for (size_t i = 0; i < std::min(count, kPrefetchedFloats); i += 16) __builtin_prefetch(data + i, 0, 2);
}
inline void PrefetchToWrite(float* data, size_t count) {
  for (size_t i = 0; i < std::min(count, kPrefetchedFloats); i += 16) __builtin_prefetch(data + i, 1, 2);
}

// How many images one task takes when each has `positions`.
size_t TaskImages(size_t positions, size_t images);

}  // namespace ort_ed
