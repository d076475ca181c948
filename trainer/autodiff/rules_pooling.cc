// Pooling over windows and over whole images.
#include <algorithm>
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"
#include "trainer/autodiff/window_geometry.h"

namespace ort_ed {
namespace {

// Every channel is an image of its own: the transposed convolution with a kernel of ones.
void AveragePool(GradContext& node) {
  const WindowGeometry window =
      ReadWindowGeometry(node, node.InputInfo(0), node.OutputInfo(), node.Ints("kernel_shape"));
  std::vector<float> shares = WindowCounts(window, node.Int("count_include_pad", 0) != 0);
  for (float& share : shares) share = 1 / share;
  GraphBuilder& graph = node.graph();
  std::vector<int64_t> map_shape = {-1, 1}, kernel_shape = {1, 1};
  map_shape.insert(map_shape.end(), window.map.begin(), window.map.end());
  kernel_shape.insert(kernel_shape.end(), window.kernel.begin(), window.kernel.end());
  const Value share = graph.Constant(window.map, shares);
  const Value kernel = graph.Constant(kernel_shape, std::vector<float>(window.kernel_size(), 1));
  const Value map = Reshape(node.OutputGradient() * share, map_shape);
  node.SetGradient(0,
                   node.ReshapeToInput(Op("ConvTranspose", {map, kernel}, TransposedAttributes(window)), 0));
}

// The whole gradient goes to the number that ONNX Runtime reports as the maximum of its window: of equal
// ones, the first.
void MaxPool(GradContext& node) {
  if (node.HasOutputGradient(1)) node.Fail("its indices cannot be differentiated");
  Attributes attributes;
  for (const char* name : {"kernel_shape", "strides", "dilations", "pads"}) {
    if (node.HasAttribute(name)) attributes[name] = node.Ints(name);
  }
  if (node.HasAttribute("auto_pad")) attributes["auto_pad"] = node.String("auto_pad", "");
  attributes["ceil_mode"] = node.Int("ceil_mode", 0);
  const auto pooled = node.graph().NodeWithOutputs("MaxPool", std::vector{node.Input(0)}, 2, attributes);
  const Value size = Unsqueeze(Op("Size", {node.Input(0)}), {0});
  const Value scattered =
      Op("ScatterElements",
         {node.Zeros(size), Reshape(pooled[1], {{-1}}), Reshape(node.OutputGradient(), {{-1}})},
         {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  node.SetGradient(0, node.ReshapeToInput(scattered, 0));
}

std::vector<int64_t> AllSpatialAxes(const GradContext& node) {
  std::vector<int64_t> axes(node.Rank(0) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

void GlobalAveragePool(GradContext& node) {
  int64_t count = 1;
  for (int64_t axis : AllSpatialAxes(node)) {
    const Extent& extent = node.InputInfo(0).shape[axis];
    if (!extent.known()) node.Fail("its spatial extents must be fixed numbers");
    count *= extent.value;
  }
  node.SetCompactGradient(0, node.OutputGradient() / static_cast<float>(count));
}

// Equal maxima share the gradient.
void GlobalMaxPool(GradContext& node) {
  const Value is_maximum = node.Mask(Op("Equal", {node.Input(0), node.Output()}));
  const Value shared =
      node.OutputGradient() / Reduce("ReduceSum", is_maximum, AllSpatialAxes(node), /*keep_dimensions=*/true);
  node.SetGradient(0, shared * is_maximum);
}

constexpr std::array kRules = {
    GradientRule{"AveragePool", 1, AveragePool},
    GradientRule{"MaxPool", 1, MaxPool},
    GradientRule{"GlobalAveragePool", 1, GlobalAveragePool},
    GradientRule{"GlobalMaxPool", 1, GlobalMaxPool},
};

}  // namespace

std::span<const GradientRule> PoolingRules() { return kRules; }

}  // namespace ort_ed
