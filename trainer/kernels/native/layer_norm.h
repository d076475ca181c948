#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// Each row normalised by itself, times scale, plus bias (which may be null), both of a row's length.
struct LayerNormShape {
  size_t rows, columns;
  float epsilon;
};
void LayerNorm(const KernelContext& context, const LayerNormShape& shape, const float* x, const float* scale,
               const float* bias, float* y);
// dbias may be null.
void LayerNormGrad(const KernelContext& context, const LayerNormShape& shape, const float* x,
                   const float* scale, const float* dy, float* dx, float* dscale, float* dbias);

}  // namespace ort_ed
