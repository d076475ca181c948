#include "trainer/kernels/native/dense.h"

#include <algorithm>
#include <vector>

#include "trainer/kernels/native/single_output.h"

namespace ort_ed {
namespace {

// Rows of one task: they stay in the second-level cache while every panel of the weights passes by.
constexpr size_t kTaskRows = 16 * SimdKernels::kRows;

// y = x * w + bias; then finish(first row, rows) while those rows of y are in cache.
template <typename Finish>
void MultiplyByWeights(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
                       const float* bias, float* y, Finish finish) {
  const PackedPanels weights(context, shape.in, shape.out, w, shape.transposed);
  const std::vector<float> start = PadToPanels(context.simd, bias, shape.out);
  context.run_tasks(DivideUp(shape.rows, kTaskRows), [&](size_t task) {
    const size_t first = task * kTaskRows, count = std::min(kTaskRows, shape.rows - first);
    const size_t next = first + count;
    const float* in_rows[kTaskRows];
    float* out_rows[kTaskRows];
    for (size_t r = 0; r < count; ++r) {
      in_rows[r] = x + (first + r) * shape.in;
      out_rows[r] = y + (first + r) * shape.out;
    }
    ReadAhead ahead;
    ahead.Add(x + next * shape.in, std::min(kTaskRows, shape.rows - next) * shape.in);
    ahead.Spread(TileCount(count, weights));
    MultiplyRows(context.simd, {count, in_rows, out_rows}, weights, start.data(), ahead);
    finish(first, count);
  });
}

}  // namespace

void Dense(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
           const float* bias, float* y) {
  if (shape.out == 1) return SingleOutput(context, shape, x, w, bias, y);
  MultiplyByWeights(context, shape, x, w, bias, y, [](size_t, size_t) {});
}

void DenseSwish(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
                const float* bias, float beta, float* y, float* sigmoid) {
  MultiplyByWeights(context, shape, x, w, bias, y, [&](size_t first, size_t count) {
    float* rows = y + first * shape.out;
    context.simd.swish(count * shape.out, beta, rows, rows, sigmoid + first * shape.out);
  });
}

}  // namespace ort_ed
