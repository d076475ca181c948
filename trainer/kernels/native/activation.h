#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// x times the normal distribution's share below x.
void Gelu(const KernelContext& context, size_t count, const float* x, float* y);
void GeluGrad(const KernelContext& context, size_t count, const float* x, const float* dy, float* dx);

void Relu(const KernelContext& context, size_t count, const float* x, float* y);
void ReluGrad(const KernelContext& context, size_t count, const float* y, const float* dy, float* dx);

}  // namespace ort_ed
