#include <algorithm>
#include <vector>

#include "trainer/kernels/conv2d.h"
#include "trainer/kernels/conv2d_grid.h"
#include "trainer/kernels/outer_product_sum.h"
#include "trainer/kernels/winograd.h"

namespace ort_ed {
namespace {

// dw[out, in, tap] = sum over positions of dy[position, out] * x[position's source pixel for tap, in].
class WeightGrad {
 public:
  WeightGrad(const KernelContext& context, const Conv2dShape& shape)
      : context_(context),
        shape_(shape),
        input_(InputOf(shape)),
        output_(OutputOf(shape)),
        grid_(ForwardGrid(shape)),
        gathered_(input_.channels < kFewChannels && grid_.taps.size() > 1),
        parts_(std::min(OuterProductSum::Parts(shape.images * output_.pixels(), WeightCount()),
                        std::max<size_t>(shape.images, 1))),
        sum_(context.simd, output_.channels, gathered_ ? 1 : grid_.taps.size(),
             gathered_ ? grid_.taps.size() * input_.channels : input_.channels, parts_),
        bias_sums_(parts_ * output_.channels) {}

  void Run(const float* x, const float* dy, float* dw, float* dbias) {
    const size_t task_images = TaskImages(output_.pixels(), shape_.images);
    context_.parallel_for(parts_, [&](size_t part) {
      sum_.Clear(part);
      const size_t end = shape_.images * (part + 1) / parts_;
      for (size_t n = shape_.images * part / parts_; n < end; n += task_images) {
        AddImages(part, std::min(task_images, end - n), x + n * input_.size(), dy + n * output_.size());
      }
    });
    const size_t taps = grid_.taps.size(), channels = input_.channels;
    const size_t tap_stride = gathered_ ? channels : sum_.right_blocks() * sum_.panel();
    sum_.Finish(context_.parallel_for, [&](size_t out, const float* values) {
      for (size_t c = 0; c < channels; ++c) {
        for (size_t t = 0; t < taps; ++t) dw[(out * channels + c) * taps + t] = values[t * tap_stride + c];
      }
    });
    if (dbias) AddBiasParts(dbias);
  }

 private:
  size_t WeightCount() const { return output_.channels * input_.channels * grid_.taps.size(); }

  void AddImages(size_t part, size_t images, const float* x, const float* dy) {
    const size_t positions = images * output_.pixels(), pixels = images * input_.pixels() + 1;
    const size_t block_rows = gathered_ ? positions : pixels;
    const size_t right_floats = block_rows * sum_.right_blocks() * sum_.panel();
    const size_t pointers = positions * (gathered_ ? 1 : grid_.taps.size());
    const size_t source_floats = gathered_ ? pixels * input_.channels : 0;
    Scratch scratch(Scratch::Bytes<float>(positions * output_.channels) +
                    Scratch::Bytes<float>(sum_.PackedLeftSize(positions)) +
                    Scratch::Bytes<float>(right_floats) + Scratch::Bytes<const float*>(pointers) +
                    Scratch::Bytes<float>(source_floats));
    float* left = scratch.Take<float>(positions * output_.channels);
    float* packed_left = scratch.Take<float>(sum_.PackedLeftSize(positions));
    float* right = scratch.Take<float>(right_floats);
    const float** rows = scratch.Take<const float*>(pointers);
    float* source = scratch.Take<float>(source_floats);

    ChannelsLast(context_.simd, images, output_, dy, left, output_.channels);
    AddToBias(part, positions, left);
    sum_.PackLeft(positions, left, output_.channels, packed_left);
    if (gathered_) {
      GatherTaps(images, x, source, right, rows);
    } else {
      PointToPixels(images, x, right, rows);
    }
    sum_.Add(part, positions, packed_left, rows, block_rows * sum_.panel());
  }

  // right: [block of channels][pixel, and one of zeros][panel].
  void PointToPixels(size_t images, const float* x, float* right, const float** rows) const {
    const size_t panel = sum_.panel(), pixels = images * input_.pixels();
    for (size_t c = 0; c < input_.channels; c += panel) {
      const size_t count = std::min(panel, input_.channels - c);
      float* block = right + c * (pixels + 1);
      std::fill_n(count < panel ? block : block + pixels * panel,
                  count < panel ? (pixels + 1) * panel : panel, 0.0f);
      for (size_t n = 0; n < images; ++n) {
        context_.simd.transpose(count, input_.pixels(), x + n * input_.size() + c * input_.pixels(),
                                input_.pixels(), block + n * input_.pixels() * panel, panel);
      }
    }
    const size_t positions = images * output_.pixels();
    VisitSources(grid_, images, input_, pixels, [=](size_t position, size_t tap, size_t pixel) {
      rows[tap * positions + position] = right + pixel * panel;
    });
  }

  // right: [block of taps and channels][position][panel].
  void GatherTaps(size_t images, const float* x, float* source, float* right, const float** rows) const {
    const size_t panel = sum_.panel(), channels = input_.channels, positions = images * output_.pixels();
    ChannelsLast(context_.simd, images, input_, x, source, channels);
    std::fill_n(source + images * input_.size(), channels, 0.0f);
    std::fill_n(right, positions * sum_.right_blocks() * panel, 0.0f);
    VisitSources(grid_, images, input_, images * input_.pixels(),
                 [=](size_t position, size_t tap, size_t pixel) {
                   for (size_t c = 0; c < channels; ++c) {
                     const size_t column = tap * channels + c;
                     right[(column / panel * positions + position) * panel + column % panel] =
                         source[pixel * channels + c];
                   }
                   rows[position] = right + position * panel;
                 });
  }

  void AddToBias(size_t part, size_t positions, const float* left) {
    context_.simd.add_rows(positions, output_.channels, left, output_.channels,
                           &bias_sums_[part * output_.channels]);
  }

  void AddBiasParts(float* dbias) const {
    std::fill_n(dbias, output_.channels, 0.0f);
    context_.simd.add_rows(parts_, output_.channels, bias_sums_.data(), output_.channels, dbias);
  }

  const KernelContext& context_;
  const Conv2dShape& shape_;
  ImageShape input_, output_;
  Grid grid_;
  bool gathered_;  // all taps of a position in one row
  size_t parts_;
  OuterProductSum sum_;
  std::vector<float> bias_sums_;  // [part][out channel]
};

}  // namespace

void Conv2dWeightGrad(const KernelContext& context, const Conv2dShape& shape, const float* x, const float* dy,
                      float* dw, float* dbias) {
  if (WinogradPays(shape)) return WinogradConv2dWeightGrad(context, shape, x, dy, dw, dbias);
  WeightGrad(context, shape).Run(x, dy, dw, dbias);
}

}  // namespace ort_ed
