// Convolutions. Both directions share two building blocks: carrying a map back to the image, and the gradient
// of the weights, a sum of matrix products, one for each position in the kernel.
#include <algorithm>
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"
#include "trainer/autodiff/window_geometry.h"

namespace ort_ed {
namespace {

std::vector<int64_t> KnownShape(const GradContext& node, int i) {
  const auto shape = StaticExtents(node.InputInfo(i), 0);
  if (!shape) node.Fail("the shape of '" + node.node().input(i) + "' must be fixed numbers");
  return *shape;
}

std::vector<int64_t> ReadKernel(const std::vector<int64_t>& weight_shape) {
  return {weight_shape.begin() + 2, weight_shape.end()};
}

// Weights [out, in / group, kernel] as the convolution in the other direction wants them: channels swapped
// within each group, kernel reversed.
Value ReversedWeights(const Value& weights, const std::vector<int64_t>& shape, int64_t group) {
  GraphBuilder& graph = *weights.graph;
  const auto axes = static_cast<int64_t>(shape.size()) - 2;
  const std::vector<int64_t> kernel = ReadKernel(shape);
  Value result = weights;
  if (std::any_of(kernel.begin(), kernel.end(), [](int64_t k) { return k > 1; })) {
    const std::vector<int64_t> backwards(axes, -1), before_first(axes, -(int64_t{1} << 31));
    result = Op("Slice", {result, graph.Ints(backwards), graph.Ints(before_first),
                          graph.Ints(SpatialAxes(axes, 2)), graph.Ints(backwards)});
  }
  std::vector<int64_t> swapped = {1, 0};
  if (group == 1) {
    for (int64_t axis : SpatialAxes(axes, 2)) swapped.push_back(axis);
    return Transpose(result, swapped);
  }
  std::vector<int64_t> grouped = {group, shape[0] / group, shape[1]};
  grouped.insert(grouped.end(), kernel.begin(), kernel.end());
  swapped = {0, 2, 1};
  for (int64_t axis : SpatialAxes(axes, 3)) swapped.push_back(axis);
  std::vector<int64_t> flat = {group * shape[1], shape[0] / group};
  flat.insert(flat.end(), kernel.begin(), kernel.end());
  return Reshape(Transpose(Reshape(result, grouped), swapped), flat);
}

// A convolution with reversed weights runs at the forward's speed; it needs unit strides and a padding that
// does not exceed the kernel.
bool IsConvolutionBackwards(const WindowGeometry& window) {
  for (int64_t i = 0; i < window.axes(); ++i) {
    const int64_t reach = window.span(i) - 1;
    if (window.stride[i] != 1 || window.pad_begin[i] > reach || window.pad_end[i] > reach) return false;
  }
  return true;
}

Value CarryBack(const Value& map, const Value& weights, const std::vector<int64_t>& weight_shape,
                int64_t group, WindowGeometry window) {
  if (!IsConvolutionBackwards(window)) {
    Attributes attributes = TransposedAttributes(window);
    attributes["group"] = group;
    return Op("ConvTranspose", {map, weights}, attributes);
  }
  for (int64_t i = 0; i < window.axes(); ++i) {
    window.pad_begin[i] = window.span(i) - 1 - window.pad_begin[i];
    window.pad_end[i] = window.span(i) - 1 - window.pad_end[i];
  }
  Attributes attributes = ForwardAttributes(window);
  attributes["group"] = group;
  return Op("Conv", {map, ReversedWeights(weights, weight_shape, group)}, attributes);
}

// [batch, channels, spatial] with batch and channels exchanged.
Value ChannelsFirst(const Value& value, int64_t axes) {
  std::vector<int64_t> permutation = {1, 0};
  for (int64_t axis : SpatialAxes(axes, 2)) permutation.push_back(axis);
  return Transpose(value, permutation);
}

// Few input channels: one product with the images of all kernel positions side by side.
Value WeightGradientAtOnce(const Value& image, const Value& map, const std::vector<int64_t>& weight_shape,
                           const WindowGeometry& window) {
  const Value padded = ChannelsFirst(Padded(image, window), window.axes());
  std::vector<Value> seen;
  for (const auto& position : window.KernelPositions()) seen.push_back(SeenBy(position, padded, window, 2));
  const Value columns = image.graph->Node("Concat", seen, {{"axis", int64_t{0}}});
  const Value outputs = ChannelsFirst(map, window.axes());
  const Value product = Op("Gemm",
                           {Reshape(outputs, {{weight_shape[0], -1}}),
                            Reshape(columns, {{window.kernel_size() * weight_shape[1], -1}})},
                           {{"transB", int64_t{1}}});  // [out, kernel * in]
  const Value separate = Reshape(product, {{weight_shape[0], window.kernel_size(), weight_shape[1]}});
  return Reshape(Transpose(separate, {{0, 2, 1}}), weight_shape);
}

// One matrix product [out, positions] x [positions, in] for each position in the kernel (and each group).
Value WeightGradientByShifts(const Value& image, const Value& map, const std::vector<int64_t>& weight_shape,
                             int64_t group, const WindowGeometry& window) {
  const int64_t axes = window.axes(), in = weight_shape[1], out = weight_shape[0];
  Value padded = Padded(image, window);
  std::vector<int64_t> outputs_shape = {out, -1}, seen_shape = {-1, in};
  std::vector<int64_t> channels_last = {0};
  if (group > 1) {  // [batch, group, in, spatial] -> [group, batch, spatial, in]
    std::vector<int64_t> grouped = {0, group, in};
    for (int64_t i = 0; i < axes; ++i) {
      grouped.push_back(window.image[i] + window.pad_begin[i] + window.pad_end[i]);
    }
    padded = Reshape(padded, grouped);
    channels_last = {1, 0};
    outputs_shape = {group, out / group, -1};
    seen_shape = {group, -1, in};
  }
  const auto first_axis = static_cast<int64_t>(channels_last.size());
  for (int64_t axis : SpatialAxes(axes, first_axis + 1)) channels_last.push_back(axis);
  channels_last.push_back(first_axis);
  padded = Transpose(padded, channels_last);
  const Value outputs = Reshape(ChannelsFirst(map, axes), outputs_shape);
  std::vector<Value> parts;
  for (const auto& position : window.KernelPositions()) {
    const Value seen = Reshape(SeenBy(position, padded, window, first_axis), seen_shape);
    parts.push_back(Reshape(MatMul(outputs, seen), {{out, in, 1}}));
  }
  if (parts.size() == 1) return Reshape(parts.front(), weight_shape);
  return Reshape(image.graph->Node("Concat", parts, {{"axis", int64_t{2}}}), weight_shape);
}

Value WeightGradient(const Value& image, const Value& map, const std::vector<int64_t>& weight_shape,
                     int64_t group, const WindowGeometry& window) {
  constexpr int64_t kFewColumns = 64;  // below, the products by shifts would be thin
  if (group == 1 && weight_shape[1] * window.kernel_size() <= kFewColumns) {
    return WeightGradientAtOnce(image, map, weight_shape, window);
  }
  return WeightGradientByShifts(image, map, weight_shape, group, window);
}

Value SumOverPositions(const Value& gradient, int64_t axes) {
  std::vector<int64_t> reduced = {0};
  for (int64_t axis : SpatialAxes(axes, 2)) reduced.push_back(axis);
  return Reduce("ReduceSum", gradient, reduced);
}

void Conv(GradContext& node) {
  const Value g = node.OutputGradient();
  const std::vector<int64_t> weight_shape = KnownShape(node, 1);
  const int64_t group = node.Int("group", 1);
  const WindowGeometry window =
      ReadWindowGeometry(node, node.InputInfo(0), node.OutputInfo(), ReadKernel(weight_shape));
  if (node.Needs(0)) node.SetGradient(0, CarryBack(g, node.Input(1), weight_shape, group, window));
  if (node.Needs(1)) node.SetGradient(1, WeightGradient(node.Input(0), g, weight_shape, group, window));
  if (node.Needs(2)) node.SetGradient(2, SumOverPositions(g, window.axes()));
}

// The roles of image and map are exchanged; weights are [in, out / group, kernel].
void ConvTranspose(GradContext& node) {
  const Value g = node.OutputGradient();
  const std::vector<int64_t> weight_shape = KnownShape(node, 1);
  const int64_t group = node.Int("group", 1);
  const WindowGeometry window =
      ReadWindowGeometry(node, node.OutputInfo(), node.InputInfo(0), ReadKernel(weight_shape), true);
  if (node.Needs(0)) {
    Attributes attributes = ForwardAttributes(window);
    attributes["group"] = group;
    node.SetGradient(0, Op("Conv", {g, node.Input(1)}, attributes));
  }
  if (node.Needs(1)) node.SetGradient(1, WeightGradient(g, node.Input(0), weight_shape, group, window));
  if (node.Needs(2)) node.SetGradient(2, SumOverPositions(g, window.axes()));
}

constexpr std::array kRules = {
    GradientRule{"Conv", 1, Conv},
    GradientRule{"ConvTranspose", 1, ConvTranspose},
};

}  // namespace

std::span<const GradientRule> ConvolutionRules() { return kRules; }

}  // namespace ort_ed
