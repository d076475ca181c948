#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trainer/kernels/conv/conv.h"

namespace ort_ed {

// What the convolution, its input gradient and its weight gradient share: which pixel meets which weight
// where.

// Small images are worked on together until a task has at least so many positions.
constexpr size_t kConvTaskPositions = 256;

constexpr size_t kFewChannels = 8;

struct ImageShape {
  size_t channels, depth, height, width;
  size_t pixels() const { return depth * height * width; }
  size_t size() const { return channels * pixels(); }
};

inline ImageShape InputShape(const ConvShape& s) {
  return {s.in_channels, s.in_depth, s.in_height, s.in_width};
}
inline ImageShape OutputShape(const ConvShape& s) {
  return {s.out_channels, s.out_depth, s.out_height, s.out_width};
}

// A place of the kernel: which weight, and where its source pixel lies from the position's own.
struct Tap {
  ptrdiff_t z, y, x;
  size_t weight;
};

// Along one axis: result first + i * stride takes from source i * step + the tap's place, i < size.
struct GridAxis {
  size_t size, first, stride, step;
};

// Results on a regular grid that take the same taps: each is the sum over taps of weights times source pixel,
// zero outside.
struct Grid {
  GridAxis z, y, x;
  std::vector<Tap> taps;
  size_t lines() const { return z.size * y.size; }
  size_t positions() const { return lines() * x.size; }
};

// Calls visit(position, tap number, source pixel) for all positions of all images, numbered through; pixel -1
// is outside the image.
template <typename Visit>
void VisitSources(const Grid& grid, size_t images, const ImageShape& source, Visit visit) {
  const ptrdiff_t depth = source.depth, height = source.height, width = source.width;
  size_t position = 0;
  for (ptrdiff_t n = 0; n < static_cast<ptrdiff_t>(images); ++n) {
    for (size_t line = 0; line < grid.lines(); ++line) {
      const auto from_z = static_cast<ptrdiff_t>(line / grid.y.size * grid.z.step);
      const auto from_y = static_cast<ptrdiff_t>(line % grid.y.size * grid.y.step);
      for (size_t j = 0; j < grid.x.size; ++j, ++position) {
        for (size_t t = 0; t < grid.taps.size(); ++t) {
          const Tap& tap = grid.taps[t];
          const ptrdiff_t z = from_z + tap.z, y = from_y + tap.y;
          const ptrdiff_t x = static_cast<ptrdiff_t>(j * grid.x.step) + tap.x;
          const bool inside = z >= 0 && z < depth && y >= 0 && y < height && x >= 0 && x < width;
          visit(position, t, inside ? ((n * depth + z) * height + y) * width + x : -1);
        }
      }
    }
  }
}

// Images of few channels, or kernels of one tap, are better gathered: all taps of a position in one row.
inline bool GatheringPays(const Grid& grid, const ImageShape& source, size_t groups) {
  return grid.taps.size() == 1 || (grid.taps.size() > 1 && source.channels < kFewChannels && groups == 1);
}
// Positions first ... end - 1 along an axis take from inside the source where the tap lies at `place`.
struct InsideRange {
  ptrdiff_t first, end;
};
InsideRange PositionsInside(const GridAxis& axis, ptrdiff_t place, size_t extent);

// rows: [position][tap][channel].
void GatherTaps(const Grid& grid, size_t images, const ImageShape& source, const float* in, float* rows);

// Calls visit(position, result pixel).
template <typename Visit>
void VisitResults(const Grid& grid, size_t images, const ImageShape& result, Visit visit) {
  size_t position = 0;
  for (size_t n = 0; n < images; ++n) {
    for (size_t line = 0; line < grid.lines(); ++line) {
      const size_t z = grid.z.first + line / grid.y.size * grid.z.stride;
      const size_t y = grid.y.first + line % grid.y.size * grid.y.stride;
      for (size_t j = 0; j < grid.x.size; ++j, ++position) {
        const size_t x = grid.x.first + j * grid.x.stride;
        visit(position, ((n * result.depth + z) * result.height + y) * result.width + x);
      }
    }
  }
}

Grid ForwardGrid(const ConvShape& shape);

// The input's gradient takes from the output's: input pixel y met weight k in output (y + pad - k * dilation)
// / stride where that divides. So pixels of equal remainder share their taps, and no product with zero is
// made.
std::vector<Grid> InputGradGrids(const ConvShape& shape);

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
