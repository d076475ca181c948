#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/conv.h"
#include "trainer/kernels/conv/conv_grid.h"
#include "trainer/kernels/conv/depthwise.h"
#include "trainer/kernels/conv/winograd.h"
#include "trainer/kernels/native/outer_product_sum.h"
#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

// dw[out, in, tap] = sum over positions of dy[position, out] * x[position's source pixel for tap, in].
class WeightGrad {
 public:
  WeightGrad(const KernelContext& context, const ConvShape& shape)
      : context_(context),
        shape_(shape),
        input_(InputShape(shape)),
        output_(OutputShape(shape)),
        grid_(ForwardGrid(shape)),
        gathered_(GatheringPays(grid_, input_, shape.groups)),
        parts_(std::min(OuterProductSum::Parts(shape.images * output_.pixels(), WeightCount()),
                        std::max<size_t>(shape.images, 1))),
        bias_sums_(parts_, RowSum(output_.channels)) {
    for (size_t group = 0; group < shape.groups; ++group)
      sums_.emplace_back(context.simd, shape.group_outputs(), gathered_ ? 1 : grid_.taps.size(),
                         gathered_ ? grid_.taps.size() * shape.group_inputs() : shape.group_inputs(), parts_);
  }

  void Run(const float* x, const float* dy, float* dw, float* dbias) {
    const size_t task_images = TaskImages(output_.pixels(), shape_.images);
    context_.run_tasks(parts_, [&](size_t part) {
      const size_t end = shape_.images * (part + 1) / parts_;
      for (size_t n = shape_.images * part / parts_; n < end; n += task_images) {
        AddImages(part, std::min(task_images, end - n), x + n * input_.size(), dy + n * output_.size());
      }
    });
    const size_t taps = grid_.taps.size(), channels = shape_.group_inputs();
    const size_t tap_stride = gathered_ ? channels : one().right_blocks() * one().panel();
    for (size_t group = 0; group < shape_.groups; ++group) {
      float* const dw_of_group = dw + group * shape_.group_outputs() * channels * taps;
      sums_[group].Finish(context_.run_tasks, [&](size_t out, const float* values) {
        float* const result = dw_of_group + out * channels * taps;
        for (size_t c = 0; c < channels; ++c) {
          for (size_t t = 0; t < taps; ++t) result[c * taps + t] = values[t * tap_stride + c];
        }
      });
    }
    if (dbias) FinishParts(context_.simd, bias_sums_, output_.channels, dbias);
  }

 private:
  size_t WeightCount() const { return output_.channels * shape_.group_inputs() * grid_.taps.size(); }
  // All groups are alike.
  const OuterProductSum& one() const { return sums_.front(); }

  void AddImages(size_t part, size_t images, const float* x, const float* dy) {
    const size_t positions = images * output_.pixels(), pixels = images * input_.pixels();
    const size_t right_rows = gathered_ ? positions : pixels + 1;
    const size_t right_floats = right_rows * one().right_blocks() * one().panel();
    const size_t pointers = positions * (gathered_ ? 1 : grid_.taps.size());
    const size_t gathered_floats = gathered_ ? positions * grid_.taps.size() * input_.channels : 0;
    Scratch scratch(Scratch::Bytes<float>(one().PackedLeftSize(positions)) +
                    Scratch::Bytes<float>(right_floats) + Scratch::Bytes<const float*>(pointers) +
                    Scratch::Bytes<float>(gathered_floats));
    float* left = scratch.Take<float>(one().PackedLeftSize(positions));
    float* right = scratch.Take<float>(right_floats);
    const float** rows = scratch.Take<const float*>(pointers);
    float* gathered = scratch.Take<float>(gathered_floats);

    bias_sums_[part].Add(context_.simd, positions, dy, output_.channels);
    if (gathered_) {
      GatherTaps(grid_, images, input_, x, gathered);
      for (size_t p = 0; p < positions; ++p) rows[p] = right + p * one().panel();
    } else {
      PointToPixels(images, right, rows);
    }
    for (size_t group = 0; group < shape_.groups; ++group) {
      const size_t first = group * shape_.group_inputs();  // with groups, what is gathered has one tap
      one().PackLeft(positions, dy + group * shape_.group_outputs(), output_.channels, left);
      if (gathered_) {
        one().PackRight(positions, gathered + first, grid_.taps.size() * input_.channels, right, positions);
      } else {
        PackPixels(pixels, x + first, right);
      }
      sums_[group].Add(part, positions, left, rows, right_rows * one().panel());
    }
  }

  // To the pixels in `right`, and to the one of zeros behind them.
  void PointToPixels(size_t images, const float* right, const float** rows) const {
    const size_t panel = one().panel(), pixels = images * input_.pixels(),
                 positions = images * output_.pixels();
    VisitSources(grid_, images, input_, [=](size_t position, size_t tap, ptrdiff_t pixel) {
      rows[tap * positions + position] = right + (pixel < 0 ? pixels : pixel) * panel;
    });
  }

  void PackPixels(size_t pixels, const float* x, float* right) const {
    const size_t panel = one().panel();
    one().PackRight(pixels, x, input_.channels, right, pixels + 1);
    for (size_t block = 0; block < one().right_blocks(); ++block) {
      std::fill_n(right + (block * (pixels + 1) + pixels) * panel, panel, 0.0f);
    }
  }

  const KernelContext& context_;
  const ConvShape& shape_;
  ImageShape input_, output_;
  Grid grid_;
  bool gathered_;  // all taps of a position in one row
  size_t parts_;
  std::vector<OuterProductSum> sums_;  // of each group
  std::vector<RowSum> bias_sums_;      // of each part
};

}  // namespace

void ConvWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x, const float* dy,
                    float* dw, float* dbias) {
  if (WinogradPays(shape)) return WinogradConvWeightGrad(context, shape, x, dy, dw, dbias);
  if (shape.depthwise()) return DepthwiseWeightGrad(context, shape, x, dy, dw, dbias);
  WeightGrad(context, shape).Run(x, dy, dw, dbias);
}

}  // namespace ort_ed
