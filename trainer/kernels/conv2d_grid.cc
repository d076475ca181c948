#include "trainer/kernels/conv2d_grid.h"

namespace ort_ed {

Grid ForwardGrid(const Conv2dShape& s) {
  Grid grid{s.out_height, s.out_width, 0, 0, 1, 1, s.stride_y, s.stride_x, {}};
  for (size_t ky = 0; ky < s.kernel_height; ++ky) {
    for (size_t kx = 0; kx < s.kernel_width; ++kx) {
      grid.taps.push_back({static_cast<ptrdiff_t>(ky * s.dilation_y) - static_cast<ptrdiff_t>(s.pad_top),
                           static_cast<ptrdiff_t>(kx * s.dilation_x) - static_cast<ptrdiff_t>(s.pad_left),
                           ky * s.kernel_width + kx});
    }
  }
  return grid;
}

std::vector<Grid> InputGradGrids(const Conv2dShape& s) {
  std::vector<Grid> grids;
  for (size_t y = 0; y < std::min(s.stride_y, s.in_height); ++y) {
    for (size_t x = 0; x < std::min(s.stride_x, s.in_width); ++x) {
      Grid grid{DivideUp(s.in_height - y, s.stride_y),
                DivideUp(s.in_width - x, s.stride_x),
                y,
                x,
                s.stride_y,
                s.stride_x,
                1,
                1,
                {}};
      for (const Tap& tap : ForwardGrid(s).taps) {
        const ptrdiff_t from_y = static_cast<ptrdiff_t>(y) - tap.y,
                        from_x = static_cast<ptrdiff_t>(x) - tap.x;
        const ptrdiff_t stride_y = s.stride_y, stride_x = s.stride_x;
        if (from_y % stride_y == 0 && from_x % stride_x == 0) {
          grid.taps.push_back({from_y / stride_y, from_x / stride_x, tap.weight});
        }
      }
      grids.push_back(std::move(grid));
    }
  }
  return grids;
}

void ChannelsLast(const SimdKernels& simd, size_t images, const ImageShape& image, const float* in,
                  float* out, size_t stride) {
  for (size_t n = 0; n < images; ++n) {
    simd.transpose(image.channels, image.pixels(), in + n * image.size(), image.pixels(),
                   out + n * image.pixels() * stride, stride);
  }
}

void ChannelsFirst(const SimdKernels& simd, size_t images, const ImageShape& image, const float* in,
                   size_t stride, float* out) {
  for (size_t n = 0; n < images; ++n) {
    simd.transpose(image.pixels(), image.channels, in + n * image.pixels() * stride, stride,
                   out + n * image.size(), image.pixels());
  }
}

size_t TaskImages(size_t positions, size_t images) {
  return std::clamp<size_t>(DivideUp(kConvTaskPositions, positions), 1, std::max<size_t>(images, 1));
}

}  // namespace ort_ed
