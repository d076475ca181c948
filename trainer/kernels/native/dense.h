#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// A dense layer: y[rows, out] = x[rows, in] * w[in, out] + bias[out]. Row-major; bias may be null.
struct DenseShape {
  size_t rows, in, out;
  bool transposed = false;  // w and dw are [out, in]
};

void Dense(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
           const float* bias, float* y);

// The same with Swish behind it: y = z * sigmoid, sigmoid = 1 / (1 + exp(-beta * z)), z = x * w + bias.
void DenseSwish(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
                const float* bias, float beta, float* y, float* sigmoid);

struct DenseOperands {
  const float* x;
  const float* w;
  const float* dy;
};

// What DenseSwish() made.
struct SwishResult {
  float beta;
  const float* y;
  const float* sigmoid;
};

// Null: not wanted.
struct DenseGradients {
  float* dx = nullptr;
  float* dw = nullptr;
  float* dbias = nullptr;
  float* dbeta = nullptr;
};

// With dz = dy, or dy * dSwish/dz if there is a Swish: dx = dz * w^T, dw = x^T * dz, dbias = the sum of dz's
// rows, dbeta = the sum of dy * dSwish/dbeta. One pass over the rows, which stay in cache from one product to
// the next.
void DenseGrad(const KernelContext& context, const DenseShape& shape, const DenseOperands& operands,
               const SwishResult* swish, const DenseGradients& gradients);

}  // namespace ort_ed
