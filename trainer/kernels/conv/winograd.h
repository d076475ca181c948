#pragma once

#include <cstddef>

#include "trainer/kernels/conv/conv.h"

namespace ort_ed {

// Winograd's convolution for 3 x 3 kernels of stride 1: results are computed in tiles of 4 x 4 from 6 x 6
// inputs with 36 products for each pair of channels instead of 144. The transforms cost some digits: errors
// are about ten times those of plain sums in single precision, 1e-6 of the largest result.

// Whether the shape is one for Winograd's convolution, and large enough to gain.
bool WinogradPays(const ConvShape& shape);

// As the functions of conv.h without "Winograd".
void WinogradConv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
                  const float* bias, float* y);
void WinogradConvInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy,
                           const float* w, float* dx, const float* bias);
void WinogradConvWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x,
                            const float* dy, float* dw, float* dbias);

}  // namespace ort_ed
