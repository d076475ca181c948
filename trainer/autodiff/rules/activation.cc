// Activation functions. Derivatives are written by the output where that is cheaper than by the input. At a
// kink the derivative is the one from the left, as in max(x, 0) at 0.
#include <array>
#include <cmath>
#include <numbers>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

void ChainRule(GradContext& node, const Value& derivative) {
  node.SetGradient(0, node.CompactOutputGradient() * derivative);
}

Value IsPositive(const Value& x) { return Op("Greater", {x, x.graph->Scalar(0)}); }

// The derivative is `right` where x > 0 and `left` elsewhere.
void TwoSided(GradContext& node, const Value& right, const Value& left) {
  ChainRule(node, Op("Where", {IsPositive(node.Input(0)), right, left}));
}

void Sigmoid(GradContext& node) {
  const Value y = node.Output();
  ChainRule(node, y * (1 - y));
}

void Tanh(GradContext& node) {
  const Value y = node.Output();
  ChainRule(node, 1 - y * y);
}

void Relu(GradContext& node) { ChainRule(node, Op("Sign", {node.Output()})); }

void Softplus(GradContext& node) { ChainRule(node, Op("Sigmoid", {node.Input(0)})); }

void Softsign(GradContext& node) {
  const Value scale = 1 + Op("Abs", {node.Input(0)});
  node.SetGradient(0, node.CompactOutputGradient() / (scale * scale));
}

void LeakyRelu(GradContext& node) {
  TwoSided(node, node.graph().Scalar(1), node.graph().Scalar(node.Float("alpha", 0.01f)));
}

// The slope broadcasts to x.
void PRelu(GradContext& node) {
  const Value x = node.Input(0);
  const Value slope = node.Input(1);
  const Value g = node.OutputGradient();
  const Value positive = IsPositive(x);
  if (node.Needs(0)) node.SetGradient(0, Op("Where", {positive, g, g * slope}));
  if (node.Needs(1)) {
    node.SetBroadcastGradient(1, Op("Where", {positive, node.graph().Scalar(0), g * x}));
  }
}

// alpha * (exp(x) - 1) on the left, so that the derivative there is y + alpha.
void Elu(GradContext& node) {
  TwoSided(node, node.graph().Scalar(1), node.Output() + node.Float("alpha", 1));
}

void Selu(GradContext& node) {
  const float alpha = node.Float("alpha", 1.67326319217681884765625f);
  const float gamma = node.Float("gamma", 1.05070102214813232421875f);
  TwoSided(node, node.graph().Scalar(gamma), node.Output() + alpha * gamma);
}

void Celu(GradContext& node) {
  TwoSided(node, node.graph().Scalar(1), node.Output() / node.Float("alpha", 1) + 1);
}

void ThresholdedRelu(GradContext& node) {
  const Value threshold = node.graph().Scalar(node.Float("alpha", 1));
  ChainRule(node, node.Mask(Op("Greater", {node.Input(0), threshold})));
}

// Moved towards zero by a bias beyond a threshold on either side, zero between.
void Shrink(GradContext& node) {
  const Value threshold = node.graph().Scalar(node.Float("lambd", 0.5f));
  ChainRule(node, node.Mask(Op("Greater", {Op("Abs", {node.Input(0)}), threshold})));
}

// 1 strictly between 0 and 1, the linear part of a hard sigmoid.
Value IsLinear(GradContext& node, const Value& y) {
  return node.Mask(Op("And", {IsPositive(y), Op("Less", {y, node.graph().Scalar(1)})}));
}

void HardSigmoid(GradContext& node) {
  ChainRule(node, IsLinear(node, node.Output()) * node.Float("alpha", 0.2f));
}

// x * h(x) with h = HardSigmoid(x / 6 + 1 / 2).
void HardSwish(GradContext& node) {
  const Value x = node.Input(0);
  const Value h = Op("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  ChainRule(node, h + x * IsLinear(node, h) / 6);
}

// x * t with t = tanh(softplus(x)).
void Mish(GradContext& node) {
  const Value x = node.Input(0);
  const Value t = Op("Tanh", {Op("Softplus", {x})});
  ChainRule(node, t + x * Op("Sigmoid", {x}) * (1 - t * t));
}

// x * s with s = Sigmoid(alpha * x).
void Swish(GradContext& node) {
  const float alpha = node.Float("alpha", 1);
  const Value s = Op("Sigmoid", {node.Input(0) * alpha});
  ChainRule(node, s + alpha * node.Output() * (1 - s));
}

// x * Phi(x), Phi the normal distribution function.
Value ExactGelu(const Value& x) {
  const auto inv_sqrt2 = static_cast<float>(std::numbers::sqrt2 / 2);
  const auto inv_sqrt2pi = static_cast<float>(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
  const Value phi = 0.5f * (1 + Op("Erf", {x * inv_sqrt2}));
  return phi + x * (inv_sqrt2pi * Exp(-0.5f * (x * x)));
}

// x / 2 * (1 + tanh(u)) with u = sqrt(2 / pi) * (x + 0.044715 x^3).
Value TanhGelu(const Value& x) {
  const auto scale = static_cast<float>(std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  constexpr float kCubic = 0.044715f;
  const Value square = x * x;
  const Value t = Op("Tanh", {scale * (x * (1 + kCubic * square))});
  const Value slope = scale * (1 + 3 * kCubic * square);
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * slope;
}

void Gelu(GradContext& node) {
  const bool exact = node.String("approximate", "none") == "none";
  ChainRule(node, exact ? ExactGelu(node.Input(0)) : TanhGelu(node.Input(0)));
}

constexpr std::array kRules = {
    GradientRule{"Sigmoid", 6, Sigmoid},
    GradientRule{"Tanh", 6, Tanh},
    GradientRule{"Relu", 6, Relu},
    GradientRule{"Softplus", 1, Softplus},
    GradientRule{"Softsign", 1, Softsign},
    GradientRule{"LeakyRelu", 6, LeakyRelu},
    GradientRule{"PRelu", 7, PRelu},
    GradientRule{"Elu", 6, Elu},
    GradientRule{"Selu", 6, Selu},
    GradientRule{"Celu", 12, Celu},
    GradientRule{"HardSigmoid", 6, HardSigmoid},
    GradientRule{"HardSwish", 14, HardSwish},
    GradientRule{"Mish", 18, Mish},
    GradientRule{"Gelu", 20, Gelu},
    GradientRule{"Swish", 24, Swish},
    GradientRule{"ThresholdedRelu", 10, ThresholdedRelu},
    GradientRule{"Shrink", 9, Shrink},
};

}  // namespace

std::span<const GradientRule> ActivationRules() { return kRules; }

}  // namespace ort_ed
