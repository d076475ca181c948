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

void ReduceSum(GradContext& node) { node.SetCompactGradient(0, KeepReduced(node, node.OutputGradient())); }

void ReduceMean(GradContext& node) {
  node.SetCompactGradient(0, KeepReduced(node, node.OutputGradient()) / node.CountAlong(ReducedAxes(node)));
}

// y = f(sum or extremum over x): dy/dx has the input's full shape.
void ChainRule(GradContext& node, const Value& derivative) {
  node.SetGradient(0, KeepReduced(node, node.OutputGradient()) * derivative);
}

// Numbers that are equal to the maximum or minimum share the gradient.
void ReduceExtremum(GradContext& node) {
  const auto axes = ReducedAxes(node);
  if (axes.empty()) return node.SetGradient(0, node.OutputGradient());
  const Value chosen = node.Mask(Op("Equal", {node.Input(0), KeepReduced(node, node.Output())}));
  const Value share = KeepReduced(node, node.OutputGradient()) / Reduce("ReduceSum", chosen, axes, true);
  node.SetGradient(0, share * chosen);
}

// The derivative is the product of the others. With p the product of the non-zero numbers: p / x without
// zeros, p at the zero if there is exactly one, and 0 elsewhere.
void ReduceProd(GradContext& node) {
  const Value x = node.Input(0);
  const auto axes = ReducedAxes(node);
  if (axes.empty()) return node.SetGradient(0, node.OutputGradient());
  const Value is_zero = Op("Equal", {x, node.graph().Scalar(0)});
  const Value zero = node.Mask(is_zero);
  const Value zeros = Reduce("ReduceSum", zero, axes, true);
  const Value non_zero = Op("Where", {is_zero, node.graph().Scalar(1), x});
  const Value product = Reduce("ReduceProd", non_zero, axes, true);
  ChainRule(node, node.Mask(Op("Equal", {zeros, zero})) * (product / non_zero));
}

void ReduceSumSquare(GradContext& node) { ChainRule(node, 2 * node.Input(0)); }

void ReduceL1(GradContext& node) { ChainRule(node, Op("Sign", {node.Input(0)})); }

// Zero at the origin, where the norm has no derivative.
void ReduceL2(GradContext& node) {
  const Value norm = KeepReduced(node, node.Output());
  const Value one = node.graph().Scalar(1);
  const Value divisor = Op("Where", {Op("Equal", {norm, node.graph().Scalar(0)}), one, norm});
  ChainRule(node, node.Input(0) / divisor);
}

void ReduceLogSum(GradContext& node) {
  node.SetCompactGradient(0, KeepReduced(node, node.OutputGradient() / Op("Exp", {node.Output()})));
}

void ReduceLogSumExp(GradContext& node) {
  ChainRule(node, Op("Exp", {node.Input(0) - KeepReduced(node, node.Output())}));
}

constexpr std::array kRules = {
    GradientRule{"ReduceSum", 1, ReduceSum},       GradientRule{"ReduceMean", 1, ReduceMean},
    GradientRule{"ReduceMax", 1, ReduceExtremum},  GradientRule{"ReduceMin", 1, ReduceExtremum},
    GradientRule{"ReduceProd", 1, ReduceProd},     GradientRule{"ReduceSumSquare", 1, ReduceSumSquare},
    GradientRule{"ReduceL1", 1, ReduceL1},         GradientRule{"ReduceL2", 1, ReduceL2},
    GradientRule{"ReduceLogSum", 1, ReduceLogSum}, GradientRule{"ReduceLogSumExp", 1, ReduceLogSumExp},
};

}  // namespace

std::span<const GradientRule> ReductionRules() { return kRules; }

}  // namespace ort_ed
