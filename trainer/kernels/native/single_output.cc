#include "trainer/kernels/native/single_output.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "trainer/kernels/native/row_sum.h"

namespace ort_ed {
namespace {

constexpr size_t kTaskRows = 256;

}  // namespace

void SingleOutput(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
                  const float* bias, float* y) {
  ForRanges(context, shape.rows, kTaskRows, [&](size_t, size_t first, size_t count) {
    context.simd.dot_rows(count, shape.in, x + first * shape.in, w, bias ? *bias : 0, y + first);
  });
}

void SingleOutputGrad(const KernelContext& context, const DenseShape& shape, const DenseOperands& operands,
                      const DenseGradients& gradients) {
  const auto [x, w, dy] = operands;
  const auto [dx, dw, dbias, dbeta] = gradients;
  const size_t in = shape.in, parts = DivideUp(shape.rows, kTaskRows);
  std::vector<float> sums(dw ? parts * in : 0);
  ForRanges(context, shape.rows, kTaskRows,
            [&, x = x, w = w, dy = dy, dx = dx](size_t part, size_t first, size_t count) {
              context.simd.dot_rows_grad(count, in, x + first * in, w, dy + first,
                                         dx ? dx + first * in : nullptr,
                                         sums.empty() ? nullptr : &sums[part * in]);
            });
  if (dw) {
    RowSum total(in);
    total.Add(context.simd, parts, sums.data(), in);
    total.Finish(context.simd, dw);
  }
  if (dbias) *dbias = static_cast<float>(std::accumulate(dy, dy + shape.rows, 0.0));
}

}  // namespace ort_ed
