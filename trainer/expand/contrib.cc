// Operators of ONNX Runtime itself, which its optimiser and some exporters write.
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

using Values = std::vector<Value>;

Value ExactGelu(const Value& x) {
  return 0.5f * x * (1 + Op("Erf", {x * static_cast<float>(std::numbers::sqrt2 / 2)}));
}

Value TanhGelu(const Value& x) {
  const auto scale = static_cast<float>(std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  return 0.5f * x * (1 + Op("Tanh", {scale * (x * (1 + 0.044715f * (x * x)))}));
}

Values Gelu(const GradContext& node) { return {ExactGelu(node.Input(0))}; }
Values BiasGelu(const GradContext& node) { return {ExactGelu(node.Input(0) + node.Input(1))}; }

Values FastGelu(const GradContext& node) {
  return {TanhGelu(node.HasInput(1) ? node.Input(0) + node.Input(1) : node.Input(0))};
}

Values QuickGelu(const GradContext& node) {
  const Value x = node.Input(0);
  return {x * Sigmoid(x * node.Float("alpha", 1.702f))};
}

// The last two axes exchanged.
Value SwapLast(const Value& x, int64_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return Transpose(x, axes);
}

Values FusedMatMul(const GradContext& node) {
  if (node.Int("transBatchA", 0) != 0 || node.Int("transBatchB", 0) != 0) return {};
  const auto side = [&](int i, const char* transposed) {
    const bool swap = node.Int(transposed, 0) != 0 && node.Rank(i) > 1;
    return swap ? SwapLast(node.Input(i), node.Rank(i)) : node.Input(i);
  };
  const Value product = MatMul(side(0, "transA"), side(1, "transB"));
  const float alpha = node.Float("alpha", 1);
  return {alpha == 1 ? product : product * alpha};
}

// The activations that are fused into Conv and Gemm; no value for others.
Value Activated(const GradContext& node, const Value& x, const std::vector<float>& numbers) {
  const std::string kind = node.String("activation", "");
  if (kind.empty()) return x;
  if (kind == "Relu" || kind == "Sigmoid" || kind == "Tanh") return Op(kind, {x});
  if (kind == "LeakyRelu" && numbers.size() == 1) return Op(kind, {x}, {{"alpha", numbers[0]}});
  return NoValue(x);
}

Values FusedGemm(const GradContext& node) {
  std::vector<Value> inputs = {node.Input(0), node.Input(1)};
  if (node.HasInput(2)) inputs.push_back(node.Input(2));
  const Value sum = node.graph().Node("Gemm", inputs,
                                      {{"alpha", node.Float("alpha", 1)},
                                       {"beta", node.Float("beta", 1)},
                                       {"transA", node.Int("transA", 0)},
                                       {"transB", node.Int("transB", 0)}});
  return {Activated(node, sum, {node.Float("activation_alpha", 0.01f)})};
}

// input + skip + bias, which is normalised.
Value Skipped(const GradContext& node, int bias) {
  const Value sum = node.Input(0) + node.Input(1);
  return node.HasInput(bias) ? sum + node.Input(bias) : sum;
}

constexpr float kSkipEpsilon = 1e-12f;

// The outputs between, means and deviations, are left out: no network reads them.
Values SkipLayerNormalization(const GradContext& node) {
  const Value sum = Skipped(node, 4);
  std::vector<Value> inputs = {sum, node.Input(2)};
  if (node.HasInput(3)) inputs.push_back(node.Input(3));
  const Attributes attributes = {{"axis", int64_t{-1}}, {"epsilon", node.Float("epsilon", kSkipEpsilon)}};
  const Value normalised = node.graph().Node("LayerNormalization", inputs, attributes);
  return {normalised, NoValue(sum), NoValue(sum), sum};
}

Values SkipSimplifiedLayerNormalization(const GradContext& node) {
  const Value sum = Skipped(node, 3);
  const Value square = ReduceMean(sum * sum, {-1}, true);
  const Value normalised = sum / Sqrt(square + node.Float("epsilon", kSkipEpsilon)) * node.Input(2);
  return {normalised, NoValue(sum), NoValue(sum), sum};
}

constexpr std::array kExpansions = {
    Expansion{kContribDomain, "Gelu", Gelu},
    Expansion{kContribDomain, "BiasGelu", BiasGelu},
    Expansion{kContribDomain, "FastGelu", FastGelu},
    Expansion{kContribDomain, "QuickGelu", QuickGelu},
    Expansion{kContribDomain, "FusedMatMul", FusedMatMul},
    Expansion{kContribDomain, "FusedGemm", FusedGemm},
    Expansion{kContribDomain, "SkipLayerNormalization", SkipLayerNormalization},
    Expansion{kContribDomain, "SkipSimplifiedLayerNormalization", SkipSimplifiedLayerNormalization},
};

}  // namespace

std::span<const Expansion> ContribExpansions() { return kExpansions; }

}  // namespace ort_ed
