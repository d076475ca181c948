#pragma once

#include "trainer/kernels/conv/conv.h"

namespace ort_ed {

// As the functions of conv.h without "Depthwise", where every channel is a group of its own: there is no
// matrix product in it, and channels lie side by side as the lanes of a vector do.
void DepthwiseConv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
                   const float* bias, float* y);
void DepthwiseInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy, const float* w,
                        float* dx, const float* bias);
void DepthwiseWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x,
                         const float* dy, float* dw, float* dbias);

}  // namespace ort_ed
