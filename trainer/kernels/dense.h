#pragma once

#include <cstddef>

#include "trainer/kernels/gemm.h"

namespace ort_ed {

// A dense layer: y[rows, out] = x[rows, in] * w[in, out] + bias[out]. Row-major; bias may be null.
struct DenseShape {
  size_t rows, in, out;
  bool transposed = false;  // w and dw are [out, in]
};

void Dense(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
           const float* bias, float* y);

// dx[rows, in] = dy[rows, out] * w^T.
void DenseInputGrad(const KernelContext& context, const DenseShape& shape, const float* dy, const float* w,
                    float* dx);

// dw = x^T * dy, dbias[out] = the sum of dy's rows; dbias may be null.
void DenseWeightGrad(const KernelContext& context, const DenseShape& shape, const float* x, const float* dy,
                     float* dw, float* dbias);

}  // namespace ort_ed
