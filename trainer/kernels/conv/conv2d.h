#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// Everything about a convolution of images in the layout [image, y, x, channel], where the values that a
// matrix product needs lie side by side, with weights as ONNX has them, [out channel, in channel, ky, kx].
// One group.
struct Conv2dShape {
  size_t images, in_channels, in_height, in_width;
  size_t out_channels, out_height, out_width;
  size_t kernel_height, kernel_width;
  size_t stride_y = 1, stride_x = 1;
  size_t dilation_y = 1, dilation_x = 1;
  size_t pad_top = 0, pad_left = 0;
};

// bias [out channel] may be null.
void Conv2d(const KernelContext& context, const Conv2dShape& shape, const float* x, const float* w,
            const float* bias, float* y);

void Conv2dInputGrad(const KernelContext& context, const Conv2dShape& shape, const float* dy, const float* w,
                     float* dx);

// dbias may be null.
void Conv2dWeightGrad(const KernelContext& context, const Conv2dShape& shape, const float* x, const float* dy,
                      float* dw, float* dbias);

// Images from the layout [image, channel, pixel] to [image, pixel, channel], and back.
struct PixelLayout {
  size_t images, channels, pixels;
};
void ToChannelsLast(const KernelContext& context, const PixelLayout& layout, const float* in, float* out);
void ToChannelsFirst(const KernelContext& context, const PixelLayout& layout, const float* in, float* out);

}  // namespace ort_ed
