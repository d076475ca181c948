#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// y = x * sigmoid(beta * x), one pass.
void Swish(const KernelContext& context, size_t count, float beta, const float* x, float* y);

// One pass over x and dy: dx = dy * dSwish/dx; returns the sum of dy * dSwish/dbeta.
float SwishGrad(const KernelContext& context, size_t count, float beta, const float* x, const float* dy,
                float* dx);

}  // namespace ort_ed
