#include "trainer/autodiff/window_geometry.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ort_ed {
namespace {

int64_t Product(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> SpatialExtents(const GradContext& node, const TensorInfo& info) {
  if (!info.has_rank || info.rank() < 3) node.Fail("the shape of its operands is not known");
  std::vector<int64_t> extents;
  for (int64_t axis = 2; axis < info.rank(); ++axis) {
    if (!info.shape[axis].known()) node.Fail("its spatial extents must be fixed numbers");
    extents.push_back(info.shape[axis].value);
  }
  return extents;
}

std::vector<int64_t> OnesIfEmpty(std::vector<int64_t> values, size_t count) {
  return values.empty() ? std::vector<int64_t>(count, 1) : values;
}

void ReadPads(const GradContext& node, WindowGeometry& window, bool transposed) {
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const bool from_output_shape = transposed && node.HasAttribute("output_shape");
  const std::vector<int64_t> pads = node.Ints("pads");
  const std::vector<int64_t> output_padding = node.Ints("output_padding");
  const int64_t axes = window.axes();
  for (int64_t i = 0; i < axes; ++i) {
    int64_t begin = 0, end = 0;
    if (same || from_output_shape) {
      const int64_t extra = output_padding.empty() ? 0 : output_padding[i];
      const int64_t total = std::max<int64_t>(
          0, (window.map[i] - 1) * window.stride[i] + extra + window.span(i) - window.image[i]);
      begin = auto_pad == "SAME_UPPER" || (!transposed && auto_pad != "SAME_LOWER") ? total / 2
                                                                                    : total - total / 2;
      end = total - begin;
    } else if (!pads.empty() && auto_pad != "VALID") {
      begin = pads[i];
      end = pads[axes + i];
    }
    window.pad_begin.push_back(begin);
    window.pad_end.push_back(end);
  }
}

}  // namespace

int64_t WindowGeometry::kernel_size() const { return Product(kernel); }
int64_t WindowGeometry::map_size() const { return Product(map); }
bool WindowGeometry::unit_stride() const {
  return std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; });
}

std::vector<std::vector<int64_t>> WindowGeometry::KernelPositions() const {
  std::vector<std::vector<int64_t>> positions;
  for (int64_t i = 0; i < kernel_size(); ++i) {
    std::vector<int64_t> position(axes());
    for (int64_t axis = axes() - 1, rest = i; axis >= 0; --axis) {
      position[axis] = rest % kernel[axis];
      rest /= kernel[axis];
    }
    positions.push_back(position);
  }
  return positions;
}

WindowGeometry ReadWindowGeometry(const GradContext& node, const TensorInfo& image, const TensorInfo& map,
                                  std::vector<int64_t> kernel, bool transposed) {
  WindowGeometry window;
  window.kernel = std::move(kernel);
  window.image = SpatialExtents(node, image);
  window.map = SpatialExtents(node, map);
  window.stride = OnesIfEmpty(node.Ints("strides"), window.kernel.size());
  window.dilation = OnesIfEmpty(node.Ints("dilations"), window.kernel.size());
  ReadPads(node, window, transposed);
  return window;
}

Attributes ForwardAttributes(const WindowGeometry& window) {
  std::vector<int64_t> pads = window.pad_begin;
  pads.insert(pads.end(), window.pad_end.begin(), window.pad_end.end());
  return {{"kernel_shape", window.kernel},
          {"strides", window.stride},
          {"dilations", window.dilation},
          {"pads", pads}};
}

// The end padding follows from the image's extent: windows need not reach its last row, and may go beyond it.
Attributes TransposedAttributes(const WindowGeometry& window) {
  std::vector<int64_t> pads = window.pad_begin;
  std::vector<int64_t> output_padding;
  for (int64_t i = 0; i < window.axes(); ++i) {
    const int64_t reached = (window.map[i] - 1) * window.stride[i] + window.span(i) - window.pad_begin[i];
    pads.push_back(std::max<int64_t>(0, reached - window.image[i]));
    output_padding.push_back(std::max<int64_t>(0, window.image[i] - reached));
  }
  return {{"kernel_shape", window.kernel},
          {"strides", window.stride},
          {"dilations", window.dilation},
          {"pads", pads},
          {"output_padding", output_padding}};
}

}  // namespace ort_ed
