#include "trainer/kernels/native/layer_norm.h"

#include <vector>

#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

constexpr size_t kTaskElements = 16384;

size_t TaskRows(const LayerNormShape& shape) {
  return std::clamp<size_t>(kTaskElements / std::max<size_t>(shape.columns, 1), 1, kLongestSum);
}

}  // namespace

void LayerNorm(const KernelContext& context, const LayerNormShape& shape, const float* x, const float* scale,
               const float* bias, float* y) {
  ForRanges(context, shape.rows, TaskRows(shape), [&](size_t, size_t first, size_t count) {
    context.simd.normalize_rows(count, shape.columns, shape.epsilon, x + first * shape.columns, scale, bias,
                                y + first * shape.columns);
  });
}

void LayerNormGrad(const KernelContext& context, const LayerNormShape& shape, const float* x,
                   const float* scale, const float* dy, float* dx, float* dscale, float* dbias) {
  const size_t columns = shape.columns, tasks = DivideUp(shape.rows, TaskRows(shape));
  std::vector<float> scale_sums(tasks * columns), bias_sums(tasks * columns);
  ForRanges(context, shape.rows, TaskRows(shape), [&](size_t task, size_t first, size_t count) {
    context.simd.normalize_rows_grad(count, columns, shape.epsilon, x + first * columns, scale,
                                     dy + first * columns, dx + first * columns, &scale_sums[task * columns],
                                     &bias_sums[task * columns]);
  });
  SumRows(context, tasks, columns, scale_sums.data(), dscale);
  if (dbias) SumRows(context, tasks, columns, bias_sums.data(), dbias);
}

}  // namespace ort_ed
