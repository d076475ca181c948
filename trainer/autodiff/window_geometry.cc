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

std::vector<int64_t> SpatialAxes(int64_t count, int64_t first) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Value Padded(const Value& image, const WindowGeometry& window) {
  const auto has_pad = [](const std::vector<int64_t>& pads) {
    return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad > 0; });
  };
  if (!has_pad(window.pad_begin) && !has_pad(window.pad_end)) return image;
  std::vector<int64_t> pads = {0, 0};
  pads.insert(pads.end(), window.pad_begin.begin(), window.pad_begin.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), window.pad_end.begin(), window.pad_end.end());
  return Op("Pad", {image, image.graph->Ints(pads)});
}

Value SeenBy(const std::vector<int64_t>& position, const Value& padded, const WindowGeometry& window,
             int64_t first_axis) {
  GraphBuilder& graph = *padded.graph;
  std::vector<int64_t> starts, ends;
  for (int64_t i = 0; i < window.axes(); ++i) {
    starts.push_back(position[i] * window.dilation[i]);
    ends.push_back(starts.back() + (window.map[i] - 1) * window.stride[i] + 1);
  }
  return Op("Slice", {padded, graph.Ints(starts), graph.Ints(ends),
                      graph.Ints(SpatialAxes(window.axes(), first_axis)), graph.Ints(window.stride)});
}

std::vector<float> WindowCounts(const WindowGeometry& window, bool count_padding) {
  std::vector<float> counts = {1};
  for (int64_t i = 0; i < window.axes(); ++i) {
    // ceil_mode may let windows reach beyond the padding.
    const int64_t low = count_padding ? -window.pad_begin[i] : 0;
    const int64_t high = window.image[i] + (count_padding ? window.pad_end[i] : 0);
    std::vector<float> longer;
    for (float count : counts) {
      for (int64_t m = 0; m < window.map[i]; ++m) {
        int64_t inside = 0;
        for (int64_t k = 0; k < window.kernel[i]; ++k) {
          const int64_t position = m * window.stride[i] + k * window.dilation[i] - window.pad_begin[i];
          inside += position >= low && position < high;
        }
        longer.push_back(count * static_cast<float>(inside));
      }
    }
    counts = longer;
  }
  return counts;
}

}  // namespace ort_ed
