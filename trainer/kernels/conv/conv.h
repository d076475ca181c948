#pragma once

#include <cstddef>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// Everything about a convolution of images in the layout [image, z, y, x, channel], where the values that a
// matrix product needs lie side by side, with weights as ONNX has them, [out channel, in channel of the
// group, kz, ky, kx]. What has fewer axes has extents of 1 for those in front.
struct ConvShape {
  size_t images, in_channels, in_height, in_width;
  size_t out_channels, out_height, out_width;
  size_t kernel_height, kernel_width;
  size_t stride_y = 1, stride_x = 1;
  size_t dilation_y = 1, dilation_x = 1;
  size_t pad_top = 0, pad_left = 0;
  size_t groups = 1;
  size_t in_depth = 1, out_depth = 1, kernel_depth = 1, stride_z = 1, dilation_z = 1, pad_front = 0;

  size_t taps() const { return kernel_depth * kernel_height * kernel_width; }
  size_t group_inputs() const { return in_channels / groups; }
  size_t group_outputs() const { return out_channels / groups; }
  // Every channel by itself.
  bool depthwise() const { return groups > 1 && groups == in_channels && groups == out_channels; }
};

// bias [out channel] may be null.
void Conv(const KernelContext& context, const ConvShape& shape, const float* x, const float* w,
          const float* bias, float* y);

// bias [in channel], added to dx, may be null.
void ConvInputGrad(const KernelContext& context, const ConvShape& shape, const float* dy, const float* w,
                   float* dx, const float* bias = nullptr);

// dbias may be null.
void ConvWeightGrad(const KernelContext& context, const ConvShape& shape, const float* x, const float* dy,
                    float* dw, float* dbias);

// Images from the layout [image, channel, pixel] to [image, pixel, channel], and back.
struct PixelLayout {
  size_t images, channels, pixels;
};
void ToChannelsLast(const KernelContext& context, const PixelLayout& layout, const float* in, float* out);
void ToChannelsFirst(const KernelContext& context, const PixelLayout& layout, const float* in, float* out);

}  // namespace ort_ed
