#include "trainer/autodiff/rules/resize.h"

#include <numeric>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"

namespace ort_ed {
namespace {

constexpr int kScales = 2, kSizes = 3;

// The axes that the node names, in the order of its scales or sizes; all where it names none.
std::vector<int64_t> ResizedAxes(const GradContext& node) {
  std::vector<int64_t> axes = node.Ints("axes");
  if (axes.empty()) {
    axes.resize(node.Rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = node.PositiveAxis(axis, node.Rank(0));
  return axes;
}

// The scales where they are written down; no gradient goes to them, so that they stay what they are.
std::vector<float> WrittenScales(const GradContext& node) {
  const std::string& name = node.Input(kScales).name;
  if (const onnx::NodeProto* producer = node.Producer(name)) {
    if (producer->op_type() != "Constant") return {};
    if (const auto* list = FindAttribute(*producer, "value_floats"))
      return {list->floats().begin(), list->floats().end()};
    const auto* value = FindAttribute(*producer, "value");
    return value ? onnx::ParseData<float>(&value->t()) : std::vector<float>();
  }
  for (const auto& tensor : node.graph().graph().initializer())
    if (tensor.name() == name) return onnx::ParseData<float>(&tensor);
  return {};
}

Attributes HowToResize(const GradContext& node) {
  Attributes attributes;
  for (const char* name : {"mode", "coordinate_transformation_mode", "nearest_mode"})
    if (node.HasAttribute(name)) attributes[name] = node.String(name, "");
  for (const char* name : {"exclude_outside", "antialias"})
    if (node.HasAttribute(name)) attributes[name] = node.Int(name, 0);
  if (node.HasAttribute("cubic_coeff_a")) attributes["cubic_coeff_a"] = node.Float("cubic_coeff_a", 0);
  return attributes;
}

// What an axis does to each unit vector: [extent before, extent after]. `i`: its place among the scales.
Value ResizedUnits(const GradContext& node, int64_t extent, int64_t i) {
  GraphBuilder& graph = node.graph();
  std::vector<float> unit(extent * extent);
  for (int64_t k = 0; k < extent; ++k) unit[k * extent + k] = 1;
  const Value units = graph.Constant({{extent, extent}}, unit);
  const Value place = graph.Ints({{i}});
  const Attributes along = {{"axis", int64_t{0}}};
  std::vector<Value> inputs = {units, NoValue(units)};
  if (node.HasInput(kScales)) {
    const Value one = Op("Cast", {graph.Ints({{1}})}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    inputs.push_back(Op("Concat", {one, Op("Gather", {node.Input(kScales), place})}, along));
  } else {
    inputs.push_back(NoValue(units));
    inputs.push_back(
        Op("Concat", {graph.Ints({{extent}}), Op("Gather", {node.Input(kSizes), place})}, along));
  }
  return graph.Node("Resize", inputs, HowToResize(node));
}

// The product of an axis with a matrix.
Value Along(const Value& x, int64_t axis, int64_t rank, const Value& matrix) {
  if (axis + 1 == rank) return MatMul(x, matrix);
  std::vector<int64_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped[rank - 1]);
  return Transpose(MatMul(Transpose(x, swapped), matrix), swapped);
}

// Whether the numbers along an axis stay as they are.
bool Stays(const GradContext& node, const std::vector<float>& scales, int64_t i, int64_t axis) {
  if (!scales.empty()) return scales[i] == 1;
  const Extent &before = node.InputInfo(0).shape[axis], &after = node.OutputInfo().shape[axis];
  return SameExtent(before, after) && (node.HasInput(kSizes) || !before.known());
}

}  // namespace

void ResizeRule(GradContext& node) {
  if (node.String("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    node.Fail("the gradient of what is cropped is not implemented");
  if (node.String("keep_aspect_ratio_policy", "stretch") != "stretch")
    node.Fail("only sizes that stretch the image have a gradient");
  const std::vector<int64_t> axes = ResizedAxes(node);
  const std::vector<float> scales = node.HasInput(kScales) ? WrittenScales(node) : std::vector<float>();
  Value g = node.OutputGradient();
  for (int64_t i = 0; i < std::ssize(axes); ++i) {
    if (Stays(node, scales, i, axes[i])) continue;
    const Extent& extent = node.InputInfo(0).shape[axes[i]];
    if (!extent.known()) node.Fail("the extents that it changes must be fixed numbers");
    const Value units = ResizedUnits(node, extent.value, i);
    g = Along(g, axes[i], node.Rank(0), Transpose(units, {{1, 0}}));
  }
  node.SetGradient(0, g);
}

}  // namespace ort_ed
