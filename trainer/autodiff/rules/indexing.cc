// Operators that choose among numbers by position: their gradient puts numbers back where they came from, and
// adds where several came from one place.
#include <algorithm>
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

constexpr char kAdd[] = "add";

// The extent of x along an axis as a 1-D tensor of one number.
Value ReadExtent(const Value& x, int64_t axis) {
  return Op("Gather", {Op("Shape", {x}), x.graph->Ints({{axis}})});
}

// The shape of `value` with another extent along one axis.
Value ShapeWithExtent(const Value& value, int64_t axis, int64_t rank, const Value& extent) {
  GraphBuilder& graph = *value.graph;
  const Value shape = Op("Shape", {value});
  std::vector<Value> parts;
  if (axis > 0) parts.push_back(Op("Slice", {shape, graph.Ints({{0}}), graph.Ints({{axis}})}));
  parts.push_back(extent);
  if (axis + 1 < rank) parts.push_back(Op("Slice", {shape, graph.Ints({{axis + 1}}), graph.Ints({{rank}})}));
  return parts.size() == 1 ? extent : graph.Node("Concat", parts, {{"axis", int64_t{0}}});
}

// The gradient of taking the positions `indices` (1-D) along one axis of a tensor of that extent.
Value PutBack(const GradContext& node, const Value& g, const Value& indices, int64_t axis, int64_t rank,
              const Value& extent) {
  std::vector<int64_t> column(rank - axis, 1);
  column[0] = -1;
  const Value everywhere = Op("Expand", {Reshape(indices, column), Op("Shape", {g})});
  return Op("ScatterElements", {node.Zeros(ShapeWithExtent(g, axis, rank, extent)), everywhere, g},
            {{"axis", axis}, {"reduction", std::string(kAdd)}});
}

// 0, 1, ..., extent - 1.
Value Positions(const Value& extent) {
  GraphBuilder& graph = *extent.graph;
  return Op("Range", {graph.IntScalar(0), Squeeze(extent, {0}), graph.IntScalar(1)});
}

// The axes' indices become one axis, so that the rest is the one-dimensional case.
void Gather(GradContext& node) {
  if (!node.Needs(0)) return;
  const int64_t rank = node.Rank(0), index_rank = node.Rank(1);
  const int64_t axis = node.PositiveAxis(node.Int("axis", 0), rank);
  const Value indices = Reshape(node.Input(1), {{-1}});
  Value g = node.OutputGradient();
  if (index_rank == 0) {
    g = Unsqueeze(g, {axis});
  } else if (index_rank > 1) {
    const Value one_axis = ShapeWithExtent(node.Input(0), axis, rank, Op("Shape", {indices}));
    g = Op("Reshape", {g, one_axis});
  }
  node.SetGradient(0, PutBack(node, g, indices, axis, rank, ReadExtent(node.Input(0), axis)));
}

void GatherElements(GradContext& node) {
  const Value zeros = node.Zeros(Op("Shape", {node.Input(0)}));
  node.SetGradient(0, Op("ScatterElements", {zeros, node.Input(1), node.OutputGradient()},
                         {{"axis", node.Int("axis", 0)}, {"reduction", std::string(kAdd)}}));
}

// The axes that indices and data share are written out: 0, 1, 2, ... along each, before the indices proper.
Value WithBatchIndices(const GradContext& node, int64_t batch_dims) {
  GraphBuilder& graph = node.graph();
  const Value indices = node.Input(1);
  const int64_t rank = node.Rank(1);
  const Value column_shape = ShapeWithExtent(indices, rank - 1, rank, graph.Ints({{1}}));
  std::vector<Value> columns;
  for (int64_t axis = 0; axis < batch_dims; ++axis) {
    std::vector<int64_t> along(rank, 1);
    along[axis] = -1;
    columns.push_back(Op("Expand", {Reshape(Positions(ReadExtent(indices, axis)), along), column_shape}));
  }
  columns.push_back(indices);
  return graph.Node("Concat", columns, {{"axis", rank - 1}});
}

void GatherND(GradContext& node) {
  const int64_t batch_dims = node.Int("batch_dims", 0);
  const Value zeros = node.Zeros(Op("Shape", {node.Input(0)}));
  const Value indices = batch_dims == 0 ? node.Input(1) : WithBatchIndices(node, batch_dims);
  node.SetGradient(
      0, Op("ScatterND", {zeros, indices, node.OutputGradient()}, {{"reduction", std::string(kAdd)}}));
}

// The largest or smallest numbers along an axis; no place is chosen twice.
void TopK(GradContext& node) {
  const Value indices = node.Output(1);
  if (indices.name.empty()) node.Fail("its output of indices is left out; give it a name");
  const Value zeros = node.Zeros(Op("Shape", {node.Input(0)}));
  node.SetGradient(
      0, Op("ScatterElements", {zeros, indices, node.OutputGradient()}, {{"axis", node.Int("axis", -1)}}));
}

// values = [off, on]
void OneHot(GradContext& node) {
  const Value binary = node.graph().Constant({{2}}, std::vector<float>{0, 1});
  const Value is_on = Op("OneHot", {node.Input(0), node.Input(1), binary}, {{"axis", node.Int("axis", -1)}});
  const Value g = node.OutputGradient();
  const Value all = Reduce("ReduceSum", g, {}), on = Reduce("ReduceSum", g * is_on, {});
  const Value both = Op("Concat", {Reshape(all - on, {{1}}), Reshape(on, {{1}})}, {{"axis", int64_t{0}}});
  node.SetGradient(2, both);
}

// The places where the condition holds, along an axis or of all numbers in a row.
void Compress(GradContext& node) {
  const Value chosen = Squeeze(Op("NonZero", {node.Input(1)}), {0});
  if (!node.HasAttribute("axis")) {
    const Value size = Reshape(Op("Size", {node.Input(0)}), {{1}});
    const Value flat = Op("ScatterElements", {node.Zeros(size), chosen, node.OutputGradient()});
    return node.SetGradient(0, node.ReshapeToInput(flat, 0));
  }
  const int64_t rank = node.Rank(0), axis = node.PositiveAxis(node.Int("axis", 0), rank);
  const Value extent = ReadExtent(node.Input(0), axis);
  node.SetGradient(0, PutBack(node, node.OutputGradient(), chosen, axis, rank, extent));
}

struct SliceAxis {
  int64_t axis, start, end, step;
};

// The slice in numbers, if everything about it is known; starts and ends clamped as ONNX says.
std::optional<std::vector<SliceAxis>> KnownSlice(const GradContext& node, const std::vector<int64_t>& axes) {
  const auto starts = node.ConstantInts(1), ends = node.ConstantInts(2);
  const auto steps = node.HasInput(4) ? node.ConstantInts(4) : std::vector<int64_t>(axes.size(), int64_t{1});
  if (!starts || !ends || !steps) return std::nullopt;
  std::vector<SliceAxis> slice;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Extent& extent = node.InputInfo(0).shape[axes[i]];
    if (!extent.known()) return std::nullopt;
    const auto clamp = [&](int64_t position) {
      return std::clamp<int64_t>(position < 0 ? position + extent.value : position, 0, extent.value);
    };
    slice.push_back({axes[i], clamp((*starts)[i]), clamp((*ends)[i]), (*steps)[i]});
  }
  return slice;
}

// A slice without gaps: zeros around the gradient.
bool SliceByPadding(GradContext& node, const std::vector<SliceAxis>& slice) {
  const int64_t rank = node.Rank(0);
  std::vector<int64_t> pads(2 * rank);
  for (const SliceAxis& part : slice) {
    if (part.step != 1 || part.end <= part.start) return false;
    pads[part.axis] = part.start;
    pads[rank + part.axis] = node.InputInfo(0).shape[part.axis].value - part.end;
  }
  node.SetGradient(0, Op("Pad", {node.OutputGradient(), node.graph().Ints(pads)}));
  return true;
}

std::vector<int64_t> SliceAxes(const GradContext& node) {
  const int64_t rank = node.Rank(0);
  std::vector<int64_t> axes;
  if (node.HasInput(3)) {
    axes = node.ListArgument("axes", 3);
    for (int64_t& axis : axes) axis = node.PositiveAxis(axis, rank);
  } else {
    const TensorInfo& starts = node.InputInfo(1);
    if (!starts.has_rank || !starts.shape[0].known()) node.Fail("the number of sliced axes is not known");
    for (int64_t axis = 0; axis < starts.shape[0].value; ++axis) axes.push_back(axis);
  }
  return axes;
}

// In general the slice's positions along each axis are the same slice of 0, 1, 2, ...
void Slice(GradContext& node) {
  if (!node.Needs(0)) return;
  const std::vector<int64_t> axes = SliceAxes(node);
  if (const auto slice = KnownSlice(node, axes); slice && SliceByPadding(node, *slice)) return;
  GraphBuilder& graph = node.graph();
  Value g = node.OutputGradient();
  for (size_t i = 0; i < axes.size(); ++i) {
    const Value which = graph.Ints({{static_cast<int64_t>(i)}});
    const Value extent = ReadExtent(node.Input(0), axes[i]);
    std::vector<Value> inputs = {Positions(extent), Op("Gather", {node.Input(1), which}),
                                 Op("Gather", {node.Input(2), which})};
    if (node.HasInput(4)) {
      inputs.push_back(graph.Ints({{0}}));
      inputs.push_back(Op("Gather", {node.Input(4), which}));
    }
    const Value positions =
        Op("Cast", {graph.Node("Slice", inputs)}, {{"to", int64_t{onnx::TensorProto::INT64}}});
    g = PutBack(node, g, positions, axes[i], node.Rank(0), extent);
  }
  node.SetGradient(0, g);
}

std::vector<int64_t> PaddedAxes(const GradContext& node) {
  const int64_t rank = node.Rank(0);
  std::vector<int64_t> axes = node.HasInput(3) ? node.ListArgument("axes", 3) : std::vector<int64_t>();
  if (!node.HasInput(3)) {
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  for (int64_t& axis : axes) axis = node.PositiveAxis(axis, rank);
  return axes;
}

// Reflected and repeated borders: the padded positions of 0, 1, 2, ... tell where each number came from.
void PadByPosition(GradContext& node, const std::string& mode) {
  GraphBuilder& graph = node.graph();
  const std::vector<int64_t> axes = PaddedAxes(node);
  const auto count = static_cast<int64_t>(axes.size());
  Value g = node.OutputGradient();
  for (int64_t i = count - 1; i >= 0; --i) {
    const Value extent = ReadExtent(node.Input(0), axes[i]);
    const Value pads = Op("Gather", {node.Input(1), graph.Ints({{i, count + i}})});
    const Value positions = Op("Pad", {Positions(extent), pads}, {{"mode", mode}});
    g = PutBack(node, g, positions, axes[i], node.Rank(0), extent);
  }
  node.SetGradient(0, g);
}

// Constant borders: padding by the negative amounts cuts them off.
void Pad(GradContext& node) {
  const std::string mode = node.String("mode", "constant");
  if (mode != "constant") return PadByPosition(node, mode);
  const Value g = node.OutputGradient();
  std::vector<Value> inputs = {g, -node.Input(1)};
  if (node.HasInput(3)) {
    inputs.push_back(node.graph().Scalar(0));
    inputs.push_back(node.Input(3));
  }
  const Value inside = node.graph().Node("Pad", inputs);
  node.SetGradient(0, inside);
  if (node.Needs(2)) {
    const Value border = Reduce("ReduceSum", g, {}) - Reduce("ReduceSum", inside, {});
    node.SetGradient(2, node.ReshapeToInput(border, 2));
  }
}

void Trilu(GradContext& node) {
  std::vector<Value> inputs = {node.OutputGradient()};
  if (node.HasInput(1)) inputs.push_back(node.Input(1));
  node.SetGradient(0, node.graph().Node("Trilu", inputs, {{"upper", node.Int("upper", 1)}}));
}

// The sums of what comes after instead of before.
void CumSum(GradContext& node) {
  const Attributes attributes = {{"exclusive", node.Int("exclusive", 0)},
                                 {"reverse", int64_t{node.Int("reverse", 0) == 0}}};
  node.SetGradient(0, Op("CumSum", {node.OutputGradient(), node.Input(1)}, attributes));
}

constexpr std::array kRules = {
    GradientRule{"Gather", 1, Gather},      GradientRule{"GatherElements", 11, GatherElements},
    GradientRule{"GatherND", 11, GatherND}, GradientRule{"TopK", 10, TopK},
    GradientRule{"OneHot", 9, OneHot},      GradientRule{"Compress", 9, Compress},
    GradientRule{"Slice", 1, Slice},        GradientRule{"Pad", 2, Pad},
    GradientRule{"Trilu", 14, Trilu},       GradientRule{"CumSum", 11, CumSum},
};

}  // namespace

std::span<const GradientRule> IndexingRules() { return kRules; }

}  // namespace ort_ed
