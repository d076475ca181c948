// Pooling over windows and over whole images.
#include <algorithm>
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"
#include "trainer/autodiff/window_geometry.h"

namespace ort_ed {
namespace {

// Adds each number of a map to all positions of the image that its window sees. Every channel is an image of
// its own: the transposed convolution with a kernel of ones.
Value SpreadOverWindows(GradContext& node, const Value& map, const WindowGeometry& window) {
  std::vector<int64_t> map_shape = {-1, 1}, kernel_shape = {1, 1};
  map_shape.insert(map_shape.end(), window.map.begin(), window.map.end());
  kernel_shape.insert(kernel_shape.end(), window.kernel.begin(), window.kernel.end());
  const Value kernel = node.graph().Constant(kernel_shape, std::vector<float>(window.kernel_size(), 1));
  const Value separate = Reshape(map, map_shape);
  return node.ReshapeToInput(Op("ConvTranspose", {separate, kernel}, TransposedAttributes(window)), 0);
}

WindowGeometry PoolingWindow(const GradContext& node) {
  return ReadWindowGeometry(node, node.InputInfo(0), node.OutputInfo(), node.Ints("kernel_shape"));
}

void AveragePool(GradContext& node) {
  const WindowGeometry window = PoolingWindow(node);
  std::vector<float> shares = WindowCounts(window, node.Int("count_include_pad", 0) != 0);
  for (float& share : shares) share = 1 / share;
  const Value share = node.graph().Constant(window.map, shares);
  node.SetGradient(0, SpreadOverWindows(node, node.OutputGradient() * share, window));
}

// x^n for n of 0 or more and x of 0 or more.
Value WholePower(const Value& x, int64_t n) {
  return n == 1 ? x : Op("Pow", {x, x.graph->Scalar(static_cast<float>(n))});
}

// y = (sum |x|^p)^(1/p): dy/dx = sign(x) (|x| / y)^(p-1), and 0 where y = 0. What depends on y alone:
Value NormGradient(GradContext& node, int64_t p) {
  const Value y = node.Output(), zero = node.graph().Scalar(0), one = node.graph().Scalar(1);
  if (p == 1) return node.OutputGradient();
  const Value is_zero = Op("Equal", {y, zero});
  const Value divided = node.OutputGradient() / WholePower(Op("Where", {is_zero, one, y}), p - 1);
  return Op("Where", {is_zero, zero, divided});
}

// And what depends on x.
Value NormSlope(GradContext& node, int64_t p) {
  const Value x = node.Input(0), sign = Op("Sign", {x});
  if (p == 1) return sign;
  return p == 2 ? x : sign * WholePower(Op("Abs", {x}), p - 1);
}

int64_t NormExponent(const GradContext& node) {
  const int64_t p = node.Int("p", 2);
  if (p < 1) node.Fail("its exponent p must be 1 or more");
  return p;
}

void LpPool(GradContext& node) {
  const int64_t p = NormExponent(node);
  const Value map = NormGradient(node, p);
  node.SetGradient(0, NormSlope(node, p) * SpreadOverWindows(node, map, PoolingWindow(node)));
}

void GlobalLpPool(GradContext& node) {
  const int64_t p = NormExponent(node);
  node.SetGradient(0, NormSlope(node, p) * NormGradient(node, p));
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

// Each number goes to one place.
void MaxUnpool(GradContext& node) {
  if (node.HasInput(2)) node.Fail("its output shape must follow from its windows");
  const Value g = Reshape(node.OutputGradient(), {{-1}}), places = Reshape(node.Input(1), {{-1}});
  node.SetGradient(0, node.ReshapeToInput(Op("Gather", {g, places}), 0));
}

std::vector<int64_t> AllSpatialAxes(const GradContext& node) {
  std::vector<int64_t> axes(node.Rank(0) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

void GlobalAveragePool(GradContext& node) {
  node.SetCompactGradient(0, node.OutputGradient() / node.CountAlong(AllSpatialAxes(node)));
}

// Equal maxima share the gradient.
void GlobalMaxPool(GradContext& node) {
  const Value is_maximum = node.Mask(Op("Equal", {node.Input(0), node.Output()}));
  const Value shared =
      node.OutputGradient() / Reduce("ReduceSum", is_maximum, AllSpatialAxes(node), /*keep_dimensions=*/true);
  node.SetGradient(0, shared * is_maximum);
}

constexpr std::array kRules = {
    GradientRule{"AveragePool", 1, AveragePool},     GradientRule{"MaxPool", 1, MaxPool},
    GradientRule{"MaxUnpool", 9, MaxUnpool},         GradientRule{"GlobalAveragePool", 1, GlobalAveragePool},
    GradientRule{"GlobalMaxPool", 1, GlobalMaxPool}, GradientRule{"LpPool", 2, LpPool},
    GradientRule{"GlobalLpPool", 2, GlobalLpPool},
};

}  // namespace

std::span<const GradientRule> PoolingRules() { return kRules; }

}  // namespace ort_ed
