// Activation functions. Derivatives are written by the output where that is cheaper than by the input.
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

void Sigmoid(GradContext& node) {
  const Value y = node.Output();
  node.SetGradient(0, node.CompactOutputGradient() * (y * (1 - y)));
}

void Tanh(GradContext& node) {
  const Value y = node.Output();
  node.SetGradient(0, node.CompactOutputGradient() * (1 - y * y));
}

// Zero at zero, where y = max(x, 0) has no derivative.
void Relu(GradContext& node) {
  node.SetGradient(0, node.CompactOutputGradient() * Op("Sign", {node.Output()}));
}

void Softplus(GradContext& node) {
  node.SetGradient(0, node.CompactOutputGradient() * Op("Sigmoid", {node.Input(0)}));
}

constexpr std::array kRules = {
    GradientRule{"Sigmoid", 6, Sigmoid},
    GradientRule{"Tanh", 6, Tanh},
    GradientRule{"Relu", 6, Relu},
    GradientRule{"Softplus", 1, Softplus},
};

}  // namespace

std::span<const GradientRule> ActivationRules() { return kRules; }

}  // namespace ort_ed
