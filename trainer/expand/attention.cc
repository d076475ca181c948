// What transformers of opset 23 and newer are written in.
#include <array>
#include <cmath>

#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

using Values = std::vector<Value>;

Values RmsNormalization(const GradContext& node) {
  const int64_t rank = node.Rank(0);
  std::vector<int64_t> axes;
  for (int64_t axis = node.PositiveAxis(node.Int("axis", -1), rank); axis < rank; ++axis)
    axes.push_back(axis);
  const Value x = node.Input(0);
  const Value square = Reduce("ReduceMean", x * x, axes, true);
  return {x / Sqrt(square + node.Float("epsilon", 1e-5f)) * node.Input(1)};
}

constexpr int64_t kEnd = INT64_MAX;

Value SliceLast(const Value& x, int64_t start, int64_t end, int64_t step = 1) {
  GraphBuilder& graph = *x.graph;
  return Op("Slice",
            {x, graph.Ints({{start}}), graph.Ints({{end}}), graph.Ints({{-1}}), graph.Ints({{step}})});
}

Value Joined(const Value& a, const Value& b) { return Op("Concat", {a, b}, {{"axis", int64_t{-1}}}); }

// [batch, heads, places, size] and [batch, places, heads, size] into one another.
Value SwapHeads(const Value& x) { return Transpose(x, {{0, 2, 1, 3}}); }

// The angles [batch, places, 1, size / 2] of every place.
Value Angles(const GradContext& node, int cache, int64_t half) {
  const Value table = node.Input(cache);
  const Value of_places = node.HasInput(3) ? Op("Gather", {table, node.Input(3)}) : table;
  return Unsqueeze(SliceLast(of_places, 0, half), {2});
}

// Pairs of numbers are turned: neighbours where `interleaved`, else one half and the other.
Value Turned(const Value& x, const Value& cosine, const Value& sine, int64_t half, bool interleaved) {
  const Value a = interleaved ? SliceLast(x, 0, kEnd, 2) : SliceLast(x, 0, half);
  const Value b = interleaved ? SliceLast(x, 1, kEnd, 2) : SliceLast(x, half, 2 * half);
  const Value real = cosine * a - sine * b, imaginary = sine * a + cosine * b;
  if (!interleaved) return Joined(real, imaginary);
  const Value pairs = Joined(Unsqueeze(real, {-1}), Unsqueeze(imaginary, {-1}));
  return Reshape(pairs, {{0, 0, 0, 2 * half}});
}

Values RotaryEmbedding(const GradContext& node) {
  const bool has_heads = node.Rank(0) == 4;
  const int64_t heads = node.Int("num_heads", 0);
  const Extent& last = node.InputInfo(0).shape.back();
  if (!last.known() || (!has_heads && heads == 0)) return {};
  const int64_t size = has_heads ? last.value : last.value / heads;
  const int64_t turned =
      node.Int("rotary_embedding_dim", 0) == 0 ? size : node.Int("rotary_embedding_dim", 0);
  const Value x = has_heads ? SwapHeads(node.Input(0)) : Reshape(node.Input(0), {{0, 0, heads, size}});
  const int64_t half = turned / 2;
  const bool interleaved = node.Int("interleaved", 0) != 0;
  Value result =
      Turned(SliceLast(x, 0, turned), Angles(node, 1, half), Angles(node, 2, half), half, interleaved);
  if (turned < size) result = Joined(result, SliceLast(x, turned, size));
  return {has_heads ? SwapHeads(result) : Reshape(result, {{0, 0, heads * size}})};
}

// Q, K or V as [batch, heads, places, size].
Value WithHeads(const GradContext& node, int i, int64_t heads) {
  return node.Rank(i) == 4 ? node.Input(i) : SwapHeads(Reshape(node.Input(i), {{0, 0, heads, -1}}));
}

// A number that exp() makes 0 of.
constexpr float kFarBelow = -1e30f;

// Places see themselves and those before.
Value CausalMask(const GradContext& node, int64_t queries, int64_t keys) {
  std::vector<float> mask;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) mask.push_back(key <= query ? 0 : kFarBelow);
  return node.graph().Constant({{queries, keys}}, mask);
}

// Nothing kept from earlier calls, no cap, as many heads everywhere, places of fixed number.
struct AttentionShape {
  int64_t heads, size, queries, keys;
};

std::optional<AttentionShape> ReadShape(const GradContext& node) {
  for (int i = 4; i < node.InputCount(); ++i)
    if (node.HasInput(i)) return std::nullopt;
  if (node.Float("softcap", 0) != 0 || node.Int("qk_matmul_output_mode", 0) != 0) return std::nullopt;
  const int64_t rank = node.Rank(0);
  const auto& q = node.InputInfo(0).shape;
  const auto& k = node.InputInfo(1).shape;
  if (rank < 3 || node.Rank(1) != rank || node.Rank(2) != rank) return std::nullopt;
  const auto heads_of = [&](const std::vector<Extent>& shape, const char* attribute) {
    return rank == 4 ? shape[1].value : node.Int(attribute, 0);
  };
  const int64_t heads = heads_of(q, "q_num_heads");
  if (heads < 1 || heads != heads_of(k, "kv_num_heads") || !q[rank - 1].known()) return std::nullopt;
  const int64_t size = rank == 4 ? q[3].value : q[2].value / heads;
  return AttentionShape{heads, size, q[rank - 2].value, k[rank - 2].value};
}

// The scores with the mask that the node is given, of bools or of numbers to add.
Value Masked(const GradContext& node, const Value& scores) {
  if (!node.HasInput(3)) return scores;
  const Value mask = node.Input(3);
  if (node.InputInfo(3).is_floating()) return scores + mask;
  return Op("Where", {mask, scores, node.graph().Scalar(kFarBelow)});
}

Values Attention(const GradContext& node) {
  const auto shape = ReadShape(node);
  const bool is_causal = node.Int("is_causal", 0) != 0;
  if (!shape || (is_causal && (shape->queries < 0 || shape->keys < 0))) return {};
  if (node.HasInput(3) && !SameExtent(node.InputInfo(3).shape.back(), {shape->keys, ""})) return {};
  const Value q = WithHeads(node, 0, shape->heads), k = WithHeads(node, 1, shape->heads),
              v = WithHeads(node, 2, shape->heads);
  const float scale = node.Float("scale", 1 / std::sqrt(static_cast<float>(shape->size)));
  Value scores = MatMul(q, Transpose(k, {{0, 1, 3, 2}})) * scale;
  if (is_causal) scores = scores + CausalMask(node, shape->queries, shape->keys);
  const Value weights = Op("Softmax", {Masked(node, scores)}, {{"axis", int64_t{-1}}});
  const Value result = MatMul(weights, v);
  return {node.Rank(0) == 4 ? result : Reshape(SwapHeads(result), {{0, 0, -1}})};
}

constexpr std::array kExpansions = {
    Expansion{"", "RMSNormalization", RmsNormalization},
    Expansion{"", "RotaryEmbedding", RotaryEmbedding},
    Expansion{"", "Attention", Attention},
};

}  // namespace

std::span<const Expansion> AttentionExpansions() { return kExpansions; }

}  // namespace ort_ed
