#pragma once

#include <cstdint>
#include <vector>

#include "trainer/autodiff/grad_context.h"

namespace ort_ed {

// How a window slides over the spatial axes of the larger tensor ("image", here the input of a convolution or
// pooling and the output of a transposed convolution) and gives the smaller one ("map"). One entry an axis:
//   position in the image = map position * stride + kernel position * dilation - pad_begin
struct WindowGeometry {
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  std::vector<int64_t> image, map;  // spatial extents

  int64_t axes() const { return static_cast<int64_t>(kernel.size()); }
  int64_t kernel_size() const;
  int64_t map_size() const;
  bool unit_stride() const;
  // Extent of the kernel with its dilation.
  int64_t span(int64_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
  // Kernel positions in row-major order.
  std::vector<std::vector<int64_t>> KernelPositions() const;
};

// Reads strides, dilations, pads and auto_pad of a convolution or pooling node whose image is `image` and map
// `map`. `transposed`: the node is a ConvTranspose. Fails if spatial extents are not known.
WindowGeometry ReadWindowGeometry(const GradContext& node, const TensorInfo& image, const TensorInfo& map,
                                  std::vector<int64_t> kernel, bool transposed = false);

// first, first + 1, ..., count of them.
std::vector<int64_t> SpatialAxes(int64_t count, int64_t first);

// The image [batch, channels, spatial] with its padding.
Value Padded(const Value& image, const WindowGeometry& window);

// What one kernel position sees of a padded image whose spatial axes start at `first_axis`: a tensor with the
// map's spatial extents.
Value SeenBy(const std::vector<int64_t>& position, const Value& padded, const WindowGeometry& window,
             int64_t first_axis);

// How many numbers an average over each window is made of, by position in the map. `count_padding`: those of
// the padding count, but not what lies beyond it.
std::vector<float> WindowCounts(const WindowGeometry& window, bool count_padding);

// Attributes of the ConvTranspose that carries a map back to the image.
Attributes TransposedAttributes(const WindowGeometry& window);
// Attributes of the Conv that carries an image to the map.
Attributes ForwardAttributes(const WindowGeometry& window);

}  // namespace ort_ed
