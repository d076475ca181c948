#include "trainer/kernels/conv/depthwise.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/conv_grid.h"
#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// The weights [channel, tap] as [tap, channel].
std::vector<float> ChannelsOfTaps(const KernelContext& context, const ConvShape& shape, const float* w) {
  std::vector<float> weights(shape.taps() * shape.in_channels);
  context.simd.transpose(shape.in_channels, shape.taps(), w, shape.taps(), weights.data(), shape.in_channels);
  return weights;
}

// Calls visit(tap, its number, index of the source pixel from which position 0 takes) for the taps that are
// inside along z and y. The pixel may be outside along x.
template <typename Visit>
void ForTapsOfLine(const Grid& grid, const ImageShape& source, size_t line, Visit visit) {
  const ptrdiff_t depth = source.depth, height = source.height, width = source.width;
  for (size_t t = 0; t < grid.taps.size(); ++t) {
    const ptrdiff_t z = static_cast<ptrdiff_t>(line / grid.y.size * grid.z.step) + grid.taps[t].z;
    const ptrdiff_t y = static_cast<ptrdiff_t>(line % grid.y.size * grid.y.step) + grid.taps[t].y;
    if (z >= 0 && z < depth && y >= 0 && y < height)
      visit(grid.taps[t], t, (z * height + y) * width + grid.taps[t].x);
  }
}

// The results of one grid: the convolution itself, and parts of its input gradient.
class GridSums {
 public:
  GridSums(const KernelContext& context, const ImageShape& source, const ImageShape& result, Grid grid,
           const float* weights, const float* start)
      : context_(context),
        source_(source),
        result_(result),
        grid_(std::move(grid)),
        weights_(weights),
        start_(start) {
    for (const Tap& tap : grid_.taps) ranges_.push_back(PositionsInside(grid_.x, tap.x, source.width));
  }

  void Run(size_t images, const float* in, float* out) const {
    ForRanges(context_, images, TaskImages(grid_.positions(), images),
              [&](size_t, size_t first, size_t count) {
                Line line(grid_.taps.size());
                for (size_t n = first; n < first + count; ++n) {
                  for (size_t i = 0; i < grid_.lines(); ++i)
                    RunLine(i, in + n * source_.size(), out + n * result_.size(), line);
                }
              });
  }

 private:
  // The taps that are inside the source, and those of them that are also inside at some position.
  struct Line {
    explicit Line(size_t taps)
        : offsets(taps), weights(taps), ranges(taps), some_offsets(taps), some_weights(taps) {}
    size_t count = 0;
    std::vector<ptrdiff_t> offsets;
    std::vector<size_t> weights;
    std::vector<InsideRange> ranges;
    std::vector<ptrdiff_t> some_offsets;
    std::vector<size_t> some_weights;
  };

  void RunLine(size_t i, const float* in, float* out, Line& line) const {
    const ptrdiff_t channels = source_.channels, size = grid_.x.size;
    line.count = 0;
    ptrdiff_t first = 0, end = size;  // of the positions where all taps are inside
    ForTapsOfLine(grid_, source_, i, [&](const Tap& tap, size_t t, ptrdiff_t pixel) {
      line.offsets[line.count] = pixel * channels;
      line.weights[line.count] = tap.weight * source_.channels;
      line.ranges[line.count++] = ranges_[t];
      first = std::max(first, ranges_[t].first);
      end = std::min(end, ranges_[t].end);
    });
    if (first >= end) first = end = size;
    const size_t z = grid_.z.first + i / grid_.y.size * grid_.z.stride;
    const size_t y = grid_.y.first + i % grid_.y.size * grid_.y.stride;
    float* const results = out + ((z * result_.height + y) * result_.width + grid_.x.first) * channels;
    for (ptrdiff_t j = 0; j < first; ++j) AtEdge(j, in, results, line);
    for (ptrdiff_t j = first; j < end; j += kRows) {
      const size_t count = std::min<size_t>(kRows, end - j);
      context_.simd.depthwise[count - 1](channels, line.count, line.offsets.data(), line.weights.data(),
                                         in + j * InStep(), InStep(), weights_, start_,
                                         results + j * OutStep(), OutStep());
    }
    for (ptrdiff_t j = end; j < size; ++j) AtEdge(j, in, results, line);
  }

  void AtEdge(ptrdiff_t j, const float* in, float* results, Line& line) const {
    size_t count = 0;
    for (size_t t = 0; t < line.count; ++t) {
      if (j < line.ranges[t].first || j >= line.ranges[t].end) continue;
      line.some_offsets[count] = line.offsets[t] + j * static_cast<ptrdiff_t>(InStep());
      line.some_weights[count++] = line.weights[t];
    }
    context_.simd.depthwise[0](source_.channels, count, line.some_offsets.data(), line.some_weights.data(),
                               in, 0, weights_, start_, results + j * OutStep(), 0);
  }

  size_t InStep() const { return grid_.x.step * source_.channels; }
  size_t OutStep() const { return grid_.x.stride * source_.channels; }

  const KernelContext& context_;
  ImageShape source_, result_;
  Grid grid_;
  const float *weights_, *start_;
  std::vector<InsideRange> ranges_;  // of the taps along x
};

}  // namespace

void DepthwiseConv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
                   const float* bias, float* y) {
  const std::vector<float> weights = ChannelsOfTaps(context, shape, w);
  const std::vector<float> start = PadToPanels(context.simd, bias, shape.out_channels);
  GridSums(context, InputShape(shape), OutputShape(shape), ForwardGrid(shape), weights.data(), start.data())
      .Run(shape.images, x, y);
}

void DepthwiseInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy, const float* w,
                        float* dx, const float* bias) {
  const std::vector<float> weights = ChannelsOfTaps(context, shape, w);
  const std::vector<float> start = PadToPanels(context.simd, bias, shape.in_channels);
  for (Grid& grid : InputGradGrids(shape)) {
    GridSums(context, OutputShape(shape), InputShape(shape), std::move(grid), weights.data(), start.data())
        .Run(shape.images, dy, dx);
  }
}

// Each task has sums of its own, of a number of positions that the shape alone says; they are added at the
// end.
void DepthwiseWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x,
                         const float* dy, float* dw, float* dbias) {
  constexpr size_t kFewestTasks = 16;
  const ImageShape input = InputShape(shape), output = OutputShape(shape);
  const Grid grid = ForwardGrid(shape);
  const size_t channels = shape.in_channels, taps = shape.taps(), size = (taps + 1) * channels;
  const size_t task_images = std::clamp<size_t>(kLongestSum / std::max<size_t>(output.pixels(), 1), 1,
                                                std::max<size_t>(DivideUp(shape.images, kFewestTasks), 1));
  const size_t tasks = DivideUp(shape.images, task_images);
  std::vector<float> sums(tasks * size);
  ForRanges(context, shape.images, task_images, [&](size_t task, size_t first, size_t count) {
    float* const own = &sums[task * size];
    for (size_t n = first; n < first + count; ++n) {
      const float* const image = x + n * input.size();
      const float* const map = dy + n * output.size();
      for (size_t i = 0; i < grid.lines(); ++i) {
        ForTapsOfLine(grid, input, i, [&](const Tap& tap, size_t t, ptrdiff_t pixel) {
          const auto [begin, end] = PositionsInside(grid.x, tap.x, input.width);
          const size_t step = grid.x.step * channels;
          context.simd.add_products(
              channels, end - begin, map + (i * output.width + begin) * channels, channels,
              image + pixel * static_cast<ptrdiff_t>(channels) + begin * static_cast<ptrdiff_t>(step), step,
              own + t * channels);
        });
      }
      context.simd.add_rows(output.pixels(), channels, map, channels, own + taps * channels);
    }
  });
  std::vector<float> total(size);
  SumRows(context, tasks, size, sums.data(), total.data());
  context.simd.transpose(taps, channels, total.data(), channels, dw, taps);
  if (dbias) std::copy_n(&total[taps * channels], channels, dbias);
}

}  // namespace ort_ed
