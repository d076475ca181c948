#include "trainer/kernels/conv/conv2d_grid.h"

namespace ort_ed {

Grid ForwardGrid(const Conv2dShape& s) {
  Grid grid{s.out_height, s.out_width, 0, 0, 1, 1, s.stride_y, s.stride_x, {}};
  for (size_t ky = 0; ky < s.kernel_height; ++ky) {
    for (size_t kx = 0; kx < s.kernel_width; ++kx) {
      grid.taps.push_back({static_cast<ptrdiff_t>(ky * s.dilation_y) - static_cast<ptrdiff_t>(s.pad_top),
                           static_cast<ptrdiff_t>(kx * s.dilation_x) - static_cast<ptrdiff_t>(s.pad_left),
                           ky * s.kernel_width + kx});
    }
  }
  return grid;
}

std::vector<Grid> InputGradGrids(const Conv2dShape& s) {
  std::vector<Grid> grids;
  for (size_t y = 0; y < std::min(s.stride_y, s.in_height); ++y) {
    for (size_t x = 0; x < std::min(s.stride_x, s.in_width); ++x) {
      Grid grid{DivideUp(s.in_height - y, s.stride_y),
                DivideUp(s.in_width - x, s.stride_x),
                y,
                x,
                s.stride_y,
                s.stride_x,
                1,
                1,
                {}};
      for (const Tap& tap : ForwardGrid(s).taps) {
        const ptrdiff_t from_y = static_cast<ptrdiff_t>(y) - tap.y,
                        from_x = static_cast<ptrdiff_t>(x) - tap.x;
        const ptrdiff_t stride_y = s.stride_y, stride_x = s.stride_x;
        if (from_y % stride_y == 0 && from_x % stride_x == 0) {
          grid.taps.push_back({from_y / stride_y, from_x / stride_x, tap.weight});
        }
      }
      grids.push_back(std::move(grid));
    }
  }
  return grids;
}

namespace {

// Taps whose source pixels lie side by side.
struct TapRun {
  ptrdiff_t y, x;
  size_t first, count;
};

std::vector<TapRun> FindRuns(const std::vector<Tap>& taps) {
  std::vector<TapRun> runs;
  for (size_t t = 0; t < taps.size(); ++t) {
    if (t > 0 && taps[t].y == taps[t - 1].y && taps[t].x == taps[t - 1].x + 1) {
      ++runs.back().count;
    } else {
      runs.push_back({taps[t].y, taps[t].x, t, 1});
    }
  }
  return runs;
}

}  // namespace

void GatherTaps(const Grid& grid, size_t images, const ImageShape& source, const float* in, float* rows) {
  const size_t channels = source.channels, columns = grid.taps.size() * channels;
  const ptrdiff_t step = grid.step_x, width = source.width, height = source.height;
  std::fill_n(rows, images * grid.positions() * columns, 0.0f);
  for (const TapRun& run : FindRuns(grid.taps)) {
    for (size_t line = 0; line < images * grid.height; ++line) {
      const ptrdiff_t y = static_cast<ptrdiff_t>(line % grid.height * grid.step_y) + run.y;
      if (y < 0 || y >= height) continue;
      const float* from = in + (line / grid.height * height + y) * width * channels;
      float* to = rows + line * grid.width * columns + run.first * channels;
      for (size_t j = 0; j < grid.width; ++j, to += columns) {
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
