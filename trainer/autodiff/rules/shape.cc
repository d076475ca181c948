// Operators that arrange numbers without choosing among them: shapes, types, repetition, joining.
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// Reshape, Flatten, Squeeze, Unsqueeze: the numbers stay in their order.
void Reshaped(GradContext& node) {
  if (node.Needs(0)) node.SetGradient(0, node.ReshapeToInput(node.OutputGradient(), 0));
}

void TransposeRule(GradContext& node) {
  std::vector<int64_t> permutation = node.Ints("perm");
  if (permutation.empty()) {
    permutation.resize(node.Rank(0));
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  node.SetGradient(0, Transpose(node.OutputGradient(), inverse));
}

void Identity(GradContext& node) { node.SetGradient(0, node.OutputGradient()); }

// In inference form the identity.
void Dropout(GradContext& node) {
  if (node.HasInput(2)) {
    const auto training = node.ConstantNumber(2);
    if (!training) node.Fail("its training mode is not a constant; export the model in its inference form");
    if (training != 0.0) node.Fail("it is in training mode; export the model in its inference form");
  }
  node.SetGradient(0, node.OutputGradient());
  node.SetDone(1);  // the ratio has no effect
}

// Cast and CastLike (whose second input only gives a type).
void Cast(GradContext& node) {
  node.SetGradient(0, Op("Cast", {node.OutputGradient()}, {{"to", int64_t{node.InputInfo(0).type}}}));
  node.SetDone(1);
}

void ExpandRule(GradContext& node) { node.SetBroadcastGradient(0, node.OutputGradient()); }

// As many axes again as the input has: copies and numbers alternate, and the copies are summed.
void Tile(GradContext& node) {
  const int64_t rank = node.Rank(0);
  GraphBuilder& graph = node.graph();
  const Value repeats = Unsqueeze(node.Input(1), {1});
  const Value extents = Unsqueeze(Op("Shape", {node.Input(0)}), {1});
  const Value pairs = Reshape(Op("Concat", {repeats, extents}, {{"axis", int64_t{1}}}), {{-1}});
  const Value separate = Op("Reshape", {node.OutputGradient(), pairs});
  std::vector<int64_t> copies(rank);
  for (int64_t i = 0; i < rank; ++i) copies[i] = 2 * i;
  const Value sum = Op("ReduceSum", {separate, graph.Ints(copies)}, {{"keepdims", int64_t{0}}});
  node.SetGradient(0, node.ReshapeToInput(sum, 0));
}

// Where along the axis each input begins, if all extents are known.
std::optional<std::vector<int64_t>> Offsets(const GradContext& node, int64_t axis) {
  std::vector<int64_t> offsets = {0};
  for (int i = 0; i < node.InputCount(); ++i) {
    const Extent& extent = node.InputInfo(i).shape[axis];
    if (!extent.known()) return std::nullopt;
    offsets.push_back(offsets.back() + extent.value);
  }
  return offsets;
}

void Concat(GradContext& node) {
  const int64_t axis = node.PositiveAxis(node.Int("axis", 0), node.Rank(0));
  const Value g = node.OutputGradient();
  GraphBuilder& graph = node.graph();
  if (const auto offsets = Offsets(node, axis)) {
    for (int i = 0; i < node.InputCount(); ++i) {
      if (!node.Needs(i)) continue;
      node.SetGradient(i, Op("Slice", {g, graph.Ints({{(*offsets)[i]}}), graph.Ints({{(*offsets)[i + 1]}}),
                                       graph.Ints({{axis}})}));
    }
    return;
  }
  std::vector<Value> extents;
  for (int i = 0; i < node.InputCount(); ++i) {
    extents.push_back(Op("Gather", {Op("Shape", {node.Input(i)}), graph.Ints({{axis}})}));
  }
  const Value sizes = graph.Node("Concat", extents, {{"axis", int64_t{0}}});
  const auto parts =
      graph.NodeWithOutputs("Split", std::vector{g, sizes}, node.InputCount(), {{"axis", axis}});
  for (int i = 0; i < node.InputCount(); ++i) node.SetGradient(i, parts[i]);
}

// Outputs that nobody uses have a zero gradient.
void Split(GradContext& node) {
  std::vector<Value> parts;
  for (int i = 0; i < node.node().output_size(); ++i) {
    parts.push_back(node.HasOutputGradient(i) ? node.OutputGradient(i)
                                              : node.Zeros(Op("Shape", {node.Output(i)})));
  }
  node.SetGradient(0, node.graph().Node("Concat", parts, {{"axis", node.Int("axis", 0)}}));
}

// Channels of the deep tensor that lie `depth` apart ("DCR") or side by side ("CRD") become a block of
// positions.
void DepthToSpace(GradContext& node) {
  const int64_t block = node.Int("blocksize", 1);
  const Value g = node.OutputGradient();
  if (node.String("mode", "DCR") == "DCR") {
    return node.SetGradient(0, Op("SpaceToDepth", {g}, {{"blocksize", block}}));
  }
  const auto extents = StaticExtents(node.InputInfo(0), 4);
  if (!extents || extents->size() != 4 || (*extents)[1] < 0 || (*extents)[2] < 0 || (*extents)[3] < 0) {
    node.Fail("its channels, height and width must be fixed numbers");
  }
  const int64_t channels = (*extents)[1] / (block * block);
  const Value blocks = Reshape(g, {{0, channels, (*extents)[2], block, (*extents)[3], block}});
  node.SetGradient(0, node.ReshapeToInput(Transpose(blocks, {{0, 1, 3, 5, 2, 4}}), 0));
}

void SpaceToDepth(GradContext& node) {
  const Attributes attributes = {{"blocksize", node.Int("blocksize", 1)}, {"mode", std::string("DCR")}};
  node.SetGradient(0, Op("DepthToSpace", {node.OutputGradient()}, attributes));
}

// Turned back by the same operator.
void ReverseSequence(GradContext& node) {
  const Attributes axes = {{"batch_axis", node.Int("batch_axis", 1)},
                           {"time_axis", node.Int("time_axis", 0)}};
  node.SetGradient(0, Op("ReverseSequence", {node.OutputGradient(), node.Input(1)}, axes));
}

constexpr std::array kRules = {
    GradientRule{"Reshape", 5, Reshaped},
    GradientRule{"Flatten", 1, Reshaped},
    GradientRule{"Squeeze", 1, Reshaped},
    GradientRule{"Unsqueeze", 1, Reshaped},
    GradientRule{"Transpose", 1, TransposeRule},
    GradientRule{"Identity", 1, Identity},
    GradientRule{"Dropout", 7, Dropout},
    GradientRule{"Cast", 6, Cast},
    GradientRule{"CastLike", 15, Cast},
    GradientRule{"Expand", 8, ExpandRule},
    GradientRule{"Tile", 6, Tile},
    GradientRule{"Concat", 4, Concat},
    GradientRule{"Split", 2, Split},
    GradientRule{"DepthToSpace", 1, DepthToSpace},
    GradientRule{"SpaceToDepth", 1, SpaceToDepth},
    GradientRule{"ReverseSequence", 10, ReverseSequence},
};

}  // namespace

std::span<const GradientRule> ShapeRules() { return kRules; }

}  // namespace ort_ed
