#pragma once

#include "trainer/kernels/conv/conv.h"

namespace ort_ed {

// The largest value of each channel in each window; what is beyond the image counts for nothing.
void MaxPool(const KernelContext& context, const ConvShape& shape, const float* x, float* y);

// The gradient goes to the first place of a window that has the largest value.
void MaxPoolGrad(const KernelContext& context, const ConvShape& shape, const float* x, const float* dy,
                 float* dx);

}  // namespace ort_ed
