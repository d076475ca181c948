#include "trainer/kernels/conv/conv.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/conv_grid.h"
#include "trainer/kernels/conv/depthwise.h"
#include "trainer/kernels/conv/winograd.h"

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Sums of weighted source pixels: both the convolution itself and its input gradient.
class PixelSums {
 public:
  PixelSums(const KernelContext& context, const ImageShape& source, const ImageShape& result, size_t groups)
      : context_(context), source_(source), result_(result), groups_(groups), zeros_(source.channels) {}

  // weight(tap's weight number, group, source channel of the group, result channel of the group).
  template <typename Weight>
  void AddGrid(Grid grid, Weight weight) {
    if (grid.positions() == 0) return;
    const size_t taps = grid.taps.size(), channels = source_.channels / groups_;
    const bool gathered = taps > 1 && GatheringPays(grid, source_, groups_);
    std::vector<PackedPanels> weights;
    for (size_t group = 0; group < groups_; ++group) {
      weights.emplace_back(context_, gathered ? 1 : taps, gathered ? taps * channels : channels,
                           result_.channels / groups_, [&](size_t tap, size_t depth, size_t column) {
                             const size_t t = gathered ? depth / channels : tap;
                             return weight(grid.taps[t].weight, group, depth - (gathered ? t * channels : 0),
                                           column);
                           });
    }
    parts_.push_back({std::move(grid), std::move(weights), gathered});
  }

  void Run(size_t images, const float* in, const float* bias, float* out) const {
    const size_t group_results = result_.channels / groups_;
    std::vector<float> start;
    for (size_t group = 0; group < groups_; ++group) {
      const std::vector<float> of_group =
          PadToPanels(context_.simd, bias ? bias + group * group_results : nullptr, group_results);
      start.insert(start.end(), of_group.begin(), of_group.end());
    }
    const size_t task_images = TaskImages(result_.pixels(), images);
    context_.run_tasks(DivideUp(images, task_images), [&](size_t task) {
      const size_t first = task * task_images;
      RunTask(std::min(task_images, images - first), in + first * source_.size(), start.data(),
              out + first * result_.size());
    });
  }

 private:
  struct Part {
    size_t taps() const { return weights.front().taps(); }
    size_t depth() const { return weights.front().depth(); }

    Grid grid;
    std::vector<PackedPanels> weights;  // of each group
    bool gathered;                      // all taps of a position in one row
  };

  void RunTask(size_t images, const float* in, const float* start, float* out) const {
    size_t pointers = 0, gathered_floats = 0, positions = 0;
    for (const Part& part : parts_) {
      const size_t count = images * part.grid.positions();
      positions = std::max(positions, count);
      pointers = std::max(pointers, DivideUp(count, kRows) * kRows * part.taps());
      if (part.gathered) gathered_floats = std::max(gathered_floats, count * part.depth());
    }
    Scratch scratch(Scratch::Bytes<const float*>(pointers) + Scratch::Bytes<float*>(positions) +
                    Scratch::Bytes<float>(gathered_floats));
    const float** in_rows = scratch.Take<const float*>(pointers);
    float** out_rows = scratch.Take<float*>(positions);
    float* gathered = scratch.Take<float>(gathered_floats);
    Prefetch(in, images * source_.size());
    PrefetchToWrite(out, images * result_.size());
    for (const Part& part : parts_) {
      const size_t count = images * part.grid.positions();
      VisitResults(part.grid, images, result_, [&](size_t position, size_t pixel) {
        out_rows[position] = out + pixel * result_.channels;
      });
      if (part.gathered) {
        GatherTaps(part.grid, images, source_, in, gathered);
        for (size_t p = 0; p < count; ++p) in_rows[p] = gathered + p * part.depth();
      } else {
        Point(part, images, in, in_rows);
      }
      const size_t start_size =
          DivideUp(result_.channels / groups_, context_.simd.panel) * context_.simd.panel;
      for (size_t group = 0; group < groups_; ++group)
        MultiplyRows(context_.simd,
                     {count, in_rows, out_rows, group * (source_.channels / groups_),
                      group * (result_.channels / groups_)},
                     part.weights[group], start + group * start_size);
    }
  }

  void Point(const Part& part, size_t images, const float* in, const float** rows) const {
    const size_t taps = part.grid.taps.size(), channels = source_.channels;
    const float* zeros = zeros_.data();
    VisitSources(part.grid, images, source_, [=](size_t position, size_t tap, ptrdiff_t pixel) {
      rows[(position / kRows * taps + tap) * kRows + position % kRows] =
          pixel < 0 ? zeros : in + pixel * channels;
    });
  }

  const KernelContext& context_;
  ImageShape source_, result_;
  size_t groups_;
  std::vector<float> zeros_;  // a pixel outside the image
  std::vector<Part> parts_;
};

}  // namespace

void Conv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
          const float* bias, float* y) {
  if (WinogradPays(shape)) return WinogradConv(context, shape, x, w, bias, y);
  if (shape.depthwise()) return DepthwiseConv(context, shape, x, w, bias, y);
  const size_t taps = shape.taps(), inputs = shape.group_inputs(), outputs = shape.group_outputs();
  PixelSums sums(context, InputShape(shape), OutputShape(shape), shape.groups);
  sums.AddGrid(ForwardGrid(shape), [&](size_t tap, size_t group, size_t in, size_t out) {
    return w[((group * outputs + out) * inputs + in) * taps + tap];
  });
  sums.Run(shape.images, x, bias, y);
}

void ConvInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy, const float* w,
                   float* dx, const float* bias) {
  if (WinogradPays(shape)) return WinogradConvInputGrad(context, shape, dy, w, dx, bias);
  if (shape.depthwise()) return DepthwiseInputGrad(context, shape, dy, w, dx, bias);
  const size_t taps = shape.taps(), inputs = shape.group_inputs(), outputs = shape.group_outputs();
  PixelSums sums(context, OutputShape(shape), InputShape(shape), shape.groups);
  for (Grid& grid : InputGradGrids(shape)) {
    sums.AddGrid(std::move(grid), [&](size_t tap, size_t group, size_t out, size_t in) {
      return w[((group * outputs + out) * inputs + in) * taps + tap];
    });
  }
  sums.Run(shape.images, dy, bias, dx);
}

void ToChannelsLast(const KernelContext& context, const PixelLayout& layout, const float* in, float* out) {
  const auto [images, channels, pixels] = layout;
  context.run_tasks(images, [=, &context, channels = channels, pixels = pixels](size_t n) {
    context.simd.transpose(channels, pixels, in + n * channels * pixels, pixels, out + n * channels * pixels,
                           channels);
  });
}

void ToChannelsFirst(const KernelContext& context, const PixelLayout& layout, const float* in, float* out) {
  ToChannelsLast(context, {layout.images, layout.pixels, layout.channels}, in, out);
}

}  // namespace ort_ed
