#include "trainer/kernels/conv/conv_grid.h"

namespace ort_ed {
namespace {

// Where a place of the kernel lies along an axis.
ptrdiff_t Reach(size_t k, size_t dilation, size_t pad) {
  return static_cast<ptrdiff_t>(k * dilation) - static_cast<ptrdiff_t>(pad);
}

// The grids' parts along one axis of extent `in`: the pixels of each remainder.
std::vector<GridAxis> Remainders(size_t in, size_t stride) {
  std::vector<GridAxis> axes;
  for (size_t first = 0; first < std::min(stride, in); ++first)
    axes.push_back({DivideUp(in - first, stride), first, stride, 1});
  return axes;
}

// The taps of the input's gradient on one grid.
std::vector<Tap> TakenBackwards(const std::vector<Tap>& taps, const GridAxis& z, const GridAxis& y,
                                const GridAxis& x) {
  std::vector<Tap> taken;
  for (const Tap& tap : taps) {
    const ptrdiff_t from_z = static_cast<ptrdiff_t>(z.first) - tap.z,
                    from_y = static_cast<ptrdiff_t>(y.first) - tap.y,
                    from_x = static_cast<ptrdiff_t>(x.first) - tap.x;
    const ptrdiff_t stride_z = z.stride, stride_y = y.stride, stride_x = x.stride;
    if (from_z % stride_z == 0 && from_y % stride_y == 0 && from_x % stride_x == 0)
      taken.push_back({from_z / stride_z, from_y / stride_y, from_x / stride_x, tap.weight});
  }
  return taken;
}

}  // namespace

Grid ForwardGrid(const ConvShape& s) {
  Grid grid{
      {s.out_depth, 0, 1, s.stride_z}, {s.out_height, 0, 1, s.stride_y}, {s.out_width, 0, 1, s.stride_x}, {}};
  size_t weight = 0;
  for (size_t kz = 0; kz < s.kernel_depth; ++kz) {
    for (size_t ky = 0; ky < s.kernel_height; ++ky) {
      for (size_t kx = 0; kx < s.kernel_width; ++kx) {
        grid.taps.push_back({Reach(kz, s.dilation_z, s.pad_front), Reach(ky, s.dilation_y, s.pad_top),
                             Reach(kx, s.dilation_x, s.pad_left), weight++});
      }
    }
  }
  return grid;
}

std::vector<Grid> InputGradGrids(const ConvShape& s) {
  std::vector<Grid> grids;
  const std::vector<Tap> taps = ForwardGrid(s).taps;
  for (const GridAxis& z : Remainders(s.in_depth, s.stride_z)) {
    for (const GridAxis& y : Remainders(s.in_height, s.stride_y)) {
      for (const GridAxis& x : Remainders(s.in_width, s.stride_x))
        grids.push_back({z, y, x, TakenBackwards(taps, z, y, x)});
    }
  }
  return grids;
}

InsideRange PositionsInside(const GridAxis& axis, ptrdiff_t place, size_t extent) {
  const ptrdiff_t step = axis.step, size = extent;
  const ptrdiff_t first = place >= 0 ? 0 : (-place + step - 1) / step;
  const ptrdiff_t end = size > place ? std::min<ptrdiff_t>(axis.size, (size - 1 - place) / step + 1) : 0;
  return {first, std::max(first, end)};
}

namespace {

// Taps whose source pixels lie side by side.
struct TapRun {
  ptrdiff_t z, y, x;
  size_t first, count;
};

std::vector<TapRun> FindRuns(const std::vector<Tap>& taps) {
  std::vector<TapRun> runs;
  for (size_t t = 0; t < taps.size(); ++t) {
    const Tap& tap = taps[t];
    if (t > 0 && tap.z == taps[t - 1].z && tap.y == taps[t - 1].y && tap.x == taps[t - 1].x + 1) {
      ++runs.back().count;
    } else {
      runs.push_back({tap.z, tap.y, tap.x, t, 1});
    }
  }
  return runs;
}

}  // namespace

void GatherTaps(const Grid& grid, size_t images, const ImageShape& source, const float* in, float* rows) {
  const size_t channels = source.channels, columns = grid.taps.size() * channels;
  const ptrdiff_t step = grid.x.step, width = source.width, height = source.height, depth = source.depth;
  std::fill_n(rows, images * grid.positions() * columns, 0.0f);
  for (const TapRun& run : FindRuns(grid.taps)) {
    for (size_t line = 0; line < images * grid.lines(); ++line) {
      const ptrdiff_t y = static_cast<ptrdiff_t>(line % grid.y.size * grid.y.step) + run.y;
      const ptrdiff_t z = static_cast<ptrdiff_t>(line / grid.y.size % grid.z.size * grid.z.step) + run.z;
      if (y < 0 || y >= height || z < 0 || z >= depth) continue;
      const float* from = in + ((line / grid.lines() * depth + z) * height + y) * width * channels;
      float* to = rows + line * grid.x.size * columns + run.first * channels;
      for (size_t j = 0; j < grid.x.size; ++j, to += columns) {
        // The part of the run that is inside the line.
        const ptrdiff_t x = static_cast<ptrdiff_t>(j) * step + run.x;
        const ptrdiff_t first = std::max<ptrdiff_t>(x, 0);
        const ptrdiff_t end = std::min(x + static_cast<ptrdiff_t>(run.count), width);
        if (first < end)
          std::copy(from + first * channels, from + end * channels, to + (first - x) * channels);
      }
    }
  }
}

size_t TaskImages(size_t positions, size_t images) {
  return std::clamp<size_t>(DivideUp(kConvTaskPositions, positions), 1, std::max<size_t>(images, 1));
}

}  // namespace ort_ed
