// Arithmetic with broadcasting, and functions of one number.
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// The gradient's first factor. Left compact where `full`, the other factor, has the output's shape anyway.
Value OutputGradientTimes(GradContext& node, int full) {
  return node.SameShape(full) ? node.CompactOutputGradient() : node.OutputGradient();
}

void Add(GradContext& node) {
  const Value gradient = node.OutputGradient();
  node.SetBroadcastGradient(0, gradient);
  node.SetBroadcastGradient(1, gradient);
}

void Sub(GradContext& node) {
  const Value gradient = node.OutputGradient();
  node.SetBroadcastGradient(0, gradient);
  if (node.Needs(1)) node.SetGradient(1, -node.Unbroadcast(gradient, node.OutputInfo(), node.Input(1)));
}

void Mul(GradContext& node) {
  if (node.Needs(0)) node.SetBroadcastGradient(0, OutputGradientTimes(node, 1) * node.Input(1));
  if (node.Needs(1)) node.SetBroadcastGradient(1, OutputGradientTimes(node, 0) * node.Input(0));
}

void Div(GradContext& node) {
  const Value over_divisor = node.OutputGradient() / node.Input(1);
  node.SetBroadcastGradient(0, over_divisor);
  if (node.Needs(1)) node.SetBroadcastGradient(1, -(over_divisor * node.Output()));
}

void Neg(GradContext& node) { node.SetGradient(0, -node.OutputGradient()); }

void Exp(GradContext& node) { node.SetGradient(0, node.CompactOutputGradient() * node.Output()); }

void Log(GradContext& node) { node.SetGradient(0, node.CompactOutputGradient() / node.Input(0)); }

constexpr std::array kRules = {
    GradientRule{"Add", 7, Add}, GradientRule{"Sub", 7, Sub}, GradientRule{"Mul", 7, Mul},
    GradientRule{"Div", 7, Div}, GradientRule{"Neg", 6, Neg}, GradientRule{"Exp", 6, Exp},
    GradientRule{"Log", 6, Log},
};

}  // namespace

std::span<const GradientRule> ElementwiseRules() { return kRules; }

}  // namespace ort_ed
