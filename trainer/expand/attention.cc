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

// Places see themselves and those before; the keys begin with `past` places more than the queries.
Value CausalMask(const GradContext& node, int64_t queries, int64_t keys, int64_t past) {
  std::vector<float> mask;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) mask.push_back(key <= past + query ? 0 : kFarBelow);
  return node.graph().Constant({{queries, keys}}, mask);
}

struct AttentionShape {
  int64_t heads, group;      // of queries; how many of them share a head of keys
  int64_t size, value_size;  // of a head
  int64_t queries, keys, past;

  bool places_are_known() const { return queries >= 0 && keys >= 0 && past >= 0; }
};

// Nothing where heads are of unknown number or size, or an input or output has no counterpart here.
std::optional<AttentionShape> ReadShape(const GradContext& node) {
  if (node.HasInput(6) || node.HasInput(4) != node.HasInput(5)) return std::nullopt;
  if (node.node().output_size() > 3 && !node.node().output(3).empty()) return std::nullopt;
  const int64_t rank = node.Rank(0);
  if (rank < 3 || node.Rank(1) != rank || node.Rank(2) != rank) return std::nullopt;
  const auto places = [&](int i) { return node.InputInfo(i).shape[rank - 2].value; };
  const auto heads = [&](int i, const char* attribute) {
    return rank == 4 ? node.InputInfo(i).shape[1].value : node.Int(attribute, 0);
  };
  const auto size = [&](int i, int64_t count) {
    const Extent& last = node.InputInfo(i).shape[rank - 1];
    return !last.known() ? 0 : rank == 4 ? last.value : last.value / count;
  };
  const int64_t of_queries = heads(0, "q_num_heads"), of_keys = heads(1, "kv_num_heads");
  if (of_keys < 1 || of_queries < 1 || of_queries % of_keys != 0) return std::nullopt;
  AttentionShape shape{
      of_queries, of_queries / of_keys, size(0, of_queries), size(2, of_keys), places(0), places(1), 0};
  if (shape.size < 1 || shape.value_size < 1) return std::nullopt;
  if (node.HasInput(4)) shape.past = node.InputInfo(4).shape[2].value;
  shape.keys = shape.keys < 0 || shape.past < 0 ? -1 : shape.past + shape.keys;
  return shape;
}

// Keys or values, behind those of the past.
Value WithPast(const GradContext& node, int i, int past, const AttentionShape& shape) {
  const Value now = WithHeads(node, i, shape.heads / shape.group);
  return node.HasInput(past) ? Op("Concat", {node.Input(past), now}, {{"axis", int64_t{2}}}) : now;
}

// Each head once for every head of queries that reads it.
Value Shared(const Value& x, const AttentionShape& shape, int64_t size) {
  if (shape.group == 1) return x;
  const Value repeated = Op("Expand", {Unsqueeze(x, {2}), x.graph->Ints({{1, 1, shape.group, 1, 1}})});
  return Reshape(repeated, {{0, shape.heads, -1, size}});
}

// The scores with the mask that the node is given, of bools or of numbers to add.
Value Masked(const GradContext& node, const Value& scores) {
  if (!node.HasInput(3)) return scores;
  const Value mask = node.Input(3);
  if (node.InputInfo(3).is_floating()) return scores + mask;
  return Op("Where", {mask, scores, node.graph().Scalar(kFarBelow)});
}

Value Capped(const Value& scores, float cap) {
  return cap == 0 ? scores : Op("Tanh", {scores * (1 / cap)}) * cap;
}

Values Attention(const GradContext& node) {
  const auto shape = ReadShape(node);
  const bool is_causal = node.Int("is_causal", 0) != 0;
  if (!shape || (is_causal && !shape->places_are_known())) return {};
  if (node.HasInput(3) && !SameExtent(node.InputInfo(3).shape.back(), {shape->keys, ""})) return {};
  const Value q = WithHeads(node, 0, shape->heads);
  const Value k = WithPast(node, 1, 4, *shape), v = WithPast(node, 2, 5, *shape);
  const float scale = node.Float("scale", 1 / std::sqrt(static_cast<float>(shape->size)));
  Value scores = MatMul(q, Transpose(Shared(k, *shape, shape->size), {{0, 1, 3, 2}})) * scale;
  scores = Capped(scores, node.Float("softcap", 0));  // before the masks, as ONNX Runtime does
  if (is_causal) scores = scores + CausalMask(node, shape->queries, shape->keys, shape->past);
  const Value weights = Op("Softmax", {Masked(node, scores)}, {{"axis", int64_t{-1}}});
  const Value result = MatMul(weights, Shared(v, *shape, shape->value_size));
  return {node.Rank(0) == 4 ? result : Reshape(SwapHeads(result), {{0, 0, -1}}), k, v};
}

constexpr std::array kExpansions = {
    Expansion{"", "RMSNormalization", RmsNormalization},
    Expansion{"", "RotaryEmbedding", RotaryEmbedding},
    Expansion{"", "Attention", Attention},
};

}  // namespace

std::span<const Expansion> AttentionExpansions() { return kExpansions; }

}  // namespace ort_ed
