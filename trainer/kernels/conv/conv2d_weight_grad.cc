#include <algorithm>
#include <vector>

#include "trainer/kernels/conv/conv2d.h"
#include "trainer/kernels/conv/conv2d_grid.h"
#include "trainer/kernels/conv/winograd.h"
#include "trainer/kernels/native/outer_product_sum.h"
#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

// dw[out, in, tap] = sum over positions of dy[position, out] * x[position's source pixel for tap, in].
class WeightGrad {
 public:
  WeightGrad(const KernelContext& context, const Conv2dShape& shape)
      : context_(context),
        shape_(shape),
        input_(InputShape(shape)),
        output_(OutputShape(shape)),
        grid_(ForwardGrid(shape)),
        gathered_(GatheringPays(grid_, input_)),
        parts_(std::min(OuterProductSum::Parts(shape.images * output_.pixels(), WeightCount()),
                        std::max<size_t>(shape.images, 1))),
        sum_(context.simd, output_.channels, gathered_ ? 1 : grid_.taps.size(),
             gathered_ ? grid_.taps.size() * input_.channels : input_.channels, parts_),
        bias_sums_(parts_, RowSum(output_.channels)) {}

  void Run(const float* x, const float* dy, float* dw, float* dbias) {
    const size_t task_images = TaskImages(output_.pixels(), shape_.images);
    context_.run_tasks(parts_, [&](size_t part) {
      const size_t end = shape_.images * (part + 1) / parts_;
      for (size_t n = shape_.images * part / parts_; n < end; n += task_images) {
        AddImages(part, std::min(task_images, end - n), x + n * input_.size(), dy + n * output_.size());
      }
    });
    const size_t taps = grid_.taps.size(), channels = input_.channels;
    const size_t tap_stride = gathered_ ? channels : sum_.right_blocks() * sum_.panel();
    sum_.Finish(context_.run_tasks, [&](size_t out, const float* values) {
      for (size_t c = 0; c < channels; ++c) {
        for (size_t t = 0; t < taps; ++t) dw[(out * channels + c) * taps + t] = values[t * tap_stride + c];
      }
    });
    if (dbias) FinishParts(context_.simd, bias_sums_, output_.channels, dbias);
  }

 private:
  size_t WeightCount() const { return output_.channels * input_.channels * grid_.taps.size(); }

  void AddImages(size_t part, size_t images, const float* x, const float* dy) {
    const size_t positions = images * output_.pixels(), pixels = images * input_.pixels();
    const size_t right_rows = gathered_ ? positions : pixels + 1;
    const size_t right_floats = right_rows * sum_.right_blocks() * sum_.panel();
    const size_t pointers = positions * (gathered_ ? 1 : grid_.taps.size());
    const size_t gathered_floats = gathered_ ? positions * grid_.taps.size() * input_.channels : 0;
    Scratch scratch(Scratch::Bytes<float>(sum_.PackedLeftSize(positions)) +
                    Scratch::Bytes<float>(right_floats) + Scratch::Bytes<const float*>(pointers) +
                    Scratch::Bytes<float>(gathered_floats));
    float* left = scratch.Take<float>(sum_.PackedLeftSize(positions));
    float* right = scratch.Take<float>(right_floats);
    const float** rows = scratch.Take<const float*>(pointers);
    float* gathered = scratch.Take<float>(gathered_floats);

    sum_.PackLeft(positions, dy, output_.channels, left);
    bias_sums_[part].Add(context_.simd, positions, dy, output_.channels);
    if (gathered_) {
      PointToGathered(images, x, gathered, right, rows);
    } else {
      PointToPixels(images, x, right, rows);
    }
    sum_.Add(part, positions, left, rows, right_rows * sum_.panel());
  }

  // right: the pixels, and one of zeros.
  void PointToPixels(size_t images, const float* x, float* right, const float** rows) const {
    const size_t panel = sum_.panel(), pixels = images * input_.pixels(),
                 positions = images * output_.pixels();
    sum_.PackRight(pixels, x, input_.channels, right, pixels + 1);
    for (size_t block = 0; block < sum_.right_blocks(); ++block) {
      std::fill_n(right + (block * (pixels + 1) + pixels) * panel, panel, 0.0f);
    }
    VisitSources(grid_, images, input_, [=](size_t position, size_t tap, ptrdiff_t pixel) {
      rows[tap * positions + position] = right + (pixel < 0 ? pixels : pixel) * panel;
    });
  }

  // right: the positions with all their taps.
  void PointToGathered(size_t images, const float* x, float* gathered, float* right,
                       const float** rows) const {
    const size_t columns = grid_.taps.size() * input_.channels, positions = images * output_.pixels();
    GatherTaps(grid_, images, input_, x, gathered);
    sum_.PackRight(positions, gathered, columns, right, positions);
    for (size_t p = 0; p < positions; ++p) rows[p] = right + p * sum_.panel();
  }

  const KernelContext& context_;
  const Conv2dShape& shape_;
  ImageShape input_, output_;
  Grid grid_;
  bool gathered_;  // all taps of a position in one row
  size_t parts_;
  OuterProductSum sum_;
  std::vector<RowSum> bias_sums_;  // of each part
};

}  // namespace

void Conv2dWeightGrad(const KernelContext& context, const Conv2dShape& shape, const float* x, const float* dy,
                      float* dw, float* dbias) {
  if (WinogradPays(shape)) return WinogradConv2dWeightGrad(context, shape, x, dy, dw, dbias);
  WeightGrad(context, shape).Run(x, dy, dw, dbias);
}

}  // namespace ort_ed
