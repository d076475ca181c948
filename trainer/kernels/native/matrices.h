#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// Products of many small matrices: out[i] = a[i] * b[i], [rows, depth] times [depth, columns], row by row. A
// matrix may lie there transposed; where one side is shared it is the same for all.
struct MatricesShape {
  size_t count, rows, depth, columns;
  bool transposed_a = false, transposed_b = false;
  bool shared_a = false;
};
void MultiplyMatrices(const KernelContext& context, const MatricesShape& shape, const float* a,
                      const float* b, float* out);

// y[i] = p[i] * v[i], p[i] = softmax of each row of a[i] * b[i]: a [tokens, depth], b [depth, others],
// v [others, width].
struct AttentionShape {
  size_t count, tokens, depth, others, width;
};
void Attention(const KernelContext& context, const AttentionShape& shape, const float* a, const float* b,
               const float* v, float* y, float* p);
struct AttentionOperands {
  const float *a, *b, *v, *p, *dy;
};
struct AttentionGradients {
  float *da, *db, *dv;
};
void AttentionGrad(const KernelContext& context, const AttentionShape& shape,
                   const AttentionOperands& operands, const AttentionGradients& gradients);

}  // namespace ort_ed
