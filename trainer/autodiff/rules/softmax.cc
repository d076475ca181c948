// Softmax and its logarithm over one axis (the form since opset 13; raise_opset.h rewrites older ones).
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

Value SumOverAxis(const GradContext& node, const Value& value) {
  return Reduce("ReduceSum", value, {{node.Int("axis", -1)}}, /*keep_dimensions=*/true);
}

void Softmax(GradContext& node) {
  const Value weighted = node.OutputGradient() * node.Output();
  node.SetGradient(0, weighted - node.Output() * SumOverAxis(node, weighted));
}

void LogSoftmax(GradContext& node) {
  const Value g = node.OutputGradient();
  node.SetGradient(0, g - Op("Exp", {node.Output()}) * SumOverAxis(node, g));
}

constexpr std::array kRules = {
    GradientRule{"Softmax", 1, Softmax},
    GradientRule{"LogSoftmax", 1, LogSoftmax},
};

}  // namespace

std::span<const GradientRule> SoftmaxRules() { return kRules; }

}  // namespace ort_ed
