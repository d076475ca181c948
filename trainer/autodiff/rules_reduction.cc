// Reductions over axes: axes are an attribute in older opsets and an input in newer ones.
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// The reduced axes, from 0. ONNX: no axes means all, unless noop_with_empty_axes says none.
std::vector<int64_t> ReducedAxes(const GradContext& node) {
  const int64_t rank = node.Rank(0);
  std::vector<int64_t> axes = node.PositiveAxes(node.ListArgument("axes", 1), rank);
  if (axes.empty() && node.Int("noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

// A tensor of the output's shape with the reduced axes back in place, as extents of 1.
Value KeepReduced(const GradContext& node, const Value& value) {
  const auto axes = ReducedAxes(node);
  if (node.Int("keepdims", 1) != 0 || axes.empty()) return value;
  return Unsqueeze(value, axes);
}

// How many numbers each output is made of: a constant, or computed from the shapes.
Value ReducedCount(GradContext& node) {
  int64_t count = 1;
  for (int64_t axis : ReducedAxes(node)) {
    const Extent& extent = node.InputInfo(0).shape[axis];
    if (!extent.known()) {
      const Value ratio = Op("Size", {node.Input(0)}) / Op("Size", {node.Output()});
      return Op("Cast", {ratio}, {{"to", int64_t{node.OutputInfo().type}}});
    }
    count *= extent.value;
  }
  return node.graph().Scalar(static_cast<float>(count));
}

void ReduceSum(GradContext& node) { node.SetCompactGradient(0, KeepReduced(node, node.OutputGradient())); }

void ReduceMean(GradContext& node) {
  node.SetCompactGradient(0, KeepReduced(node, node.OutputGradient()) / ReducedCount(node));
}

constexpr std::array kRules = {
    GradientRule{"ReduceSum", 1, ReduceSum},
    GradientRule{"ReduceMean", 1, ReduceMean},
};

}  // namespace

std::span<const GradientRule> ReductionRules() { return kRules; }

}  // namespace ort_ed
