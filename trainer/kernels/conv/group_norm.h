#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// Normalisation of images [image, pixel, channel] over the pixels of groups of channels that lie side by
// side: y = (x - mean) / sqrt(variance + epsilon) * scale + bias. Groups of one channel: instance
// normalisation.
struct GroupNormShape {
  size_t images, pixels, channels, groups;
  float epsilon;
};

// scale and bias [channels] may be null.
void GroupNorm(const KernelContext& context, const GroupNormShape& shape, const float* x, const float* scale,
               const float* bias, float* y);
// dscale and dbias may be null.
void GroupNormGrad(const KernelContext& context, const GroupNormShape& shape, const float* x,
                   const float* scale, const float* dy, float* dx, float* dscale, float* dbias);

}  // namespace ort_ed
