// Operators that move numbers without changing them.
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

void Cast(GradContext& node) {
  node.SetGradient(0, Op("Cast", {node.OutputGradient()}, {{"to", int64_t{node.InputInfo(0).type}}}));
}

constexpr std::array kRules = {
    GradientRule{"Reshape", 5, Reshaped},
    GradientRule{"Flatten", 1, Reshaped},
    GradientRule{"Squeeze", 1, Reshaped},
    GradientRule{"Unsqueeze", 1, Reshaped},
    GradientRule{"Transpose", 1, TransposeRule},
    GradientRule{"Identity", 1, Identity},
    GradientRule{"Cast", 6, Cast},
};

}  // namespace

std::span<const GradientRule> ShapeRules() { return kRules; }

}  // namespace ort_ed
