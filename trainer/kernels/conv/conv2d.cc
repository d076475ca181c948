#include "trainer/kernels/conv/conv2d.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/conv2d_grid.h"
#include "trainer/kernels/conv/winograd.h"

namespace ort_ed {
namespace {

constexpr size_t kRows = SimdKernels::kRows;

// Sums of weighted source pixels: both the convolution itself and its input gradient.
class PixelSums {
 public:
  PixelSums(const KernelContext& context, const ImageShape& source, const ImageShape& result)
      : context_(context), source_(source), result_(result), zeros_(source.channels) {}

  // weight(tap's weight number, source channel, result channel).
  template <typename Weight>
  void AddGrid(Grid grid, Weight weight) {
    if (grid.positions() == 0) return;
    const size_t taps = grid.taps.size(), channels = source_.channels;
    const bool gathered = taps > 1 && GatheringPays(grid, source_);
    PackedPanels weights(context_, gathered ? 1 : taps, gathered ? taps * channels : channels,
                         result_.channels, [&](size_t tap, size_t depth, size_t column) {
                           const size_t t = gathered ? depth / channels : tap;
                           return weight(grid.taps[t].weight, depth - (gathered ? t * channels : 0), column);
                         });
    parts_.push_back({std::move(grid), std::move(weights), gathered});
  }

  void Run(size_t images, const float* in, const float* bias, float* out) const {
    const std::vector<float> start = PadToPanels(context_.simd, bias, result_.channels);
    const size_t task_images = TaskImages(result_.pixels(), images);
    context_.run_tasks(DivideUp(images, task_images), [&](size_t task) {
      const size_t first = task * task_images;
      RunTask(std::min(task_images, images - first), in + first * source_.size(), start.data(),
              out + first * result_.size());
    });
  }

 private:
  struct Part {
    Grid grid;
    PackedPanels weights;
    bool gathered;  // all taps of a position in one row
  };

  void RunTask(size_t images, const float* in, const float* start, float* out) const {
    size_t pointers = 0, gathered_floats = 0, positions = 0;
    for (const Part& part : parts_) {
      const size_t count = images * part.grid.positions();
      positions = std::max(positions, count);
      pointers = std::max(pointers, DivideUp(count, kRows) * kRows * part.weights.taps());
      if (part.gathered) gathered_floats = std::max(gathered_floats, count * part.weights.depth());
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
        for (size_t p = 0; p < count; ++p) in_rows[p] = gathered + p * part.weights.depth();
      } else {
        Point(part, images, in, in_rows);
      }
      MultiplyRows(context_.simd, {count, in_rows, out_rows}, part.weights, start);
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
  std::vector<float> zeros_;  // a pixel outside the image
  std::vector<Part> parts_;
};

}  // namespace

void Conv2d(const KernelContext& context, const Conv2dShape& shape, const float* x, const float* w,
            const float* bias, float* y) {
  if (WinogradPays(shape)) return WinogradConv2d(context, shape, x, w, bias, y);
  const size_t taps = shape.kernel_height * shape.kernel_width;
  PixelSums sums(context, InputShape(shape), OutputShape(shape));
  sums.AddGrid(ForwardGrid(shape), [&](size_t tap, size_t in, size_t out) {
    return w[(out * shape.in_channels + in) * taps + tap];
  });
  sums.Run(shape.images, x, bias, y);
}

void Conv2dInputGrad(const KernelContext& context, const Conv2dShape& shape, const float* dy, const float* w,
                     float* dx) {
  if (WinogradPays(shape)) return WinogradConv2dInputGrad(context, shape, dy, w, dx);
  const size_t taps = shape.kernel_height * shape.kernel_width;
  PixelSums sums(context, OutputShape(shape), InputShape(shape));
  for (Grid& grid : InputGradGrids(shape)) {
    sums.AddGrid(std::move(grid), [&](size_t tap, size_t out, size_t in) {
      return w[(out * shape.in_channels + in) * taps + tap];
    });
  }
  sums.Run(shape.images, dy, nullptr, dx);
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
