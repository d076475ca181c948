// Normalisations. Those over axes of the sample share one formula; batch normalisation is the affine map of
// its inference form.
#include <array>
#include <numeric>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// x normalised over some axes: centred and divided by the standard deviation.
struct Normalized {
  Value value;
  Value inverse_deviation;  // the axes kept as extents of 1
  std::vector<int64_t> axes;
};

Normalized Normalize(const Value& x, const std::vector<int64_t>& axes, float epsilon) {
  const Value centred = x - Reduce("ReduceMean", x, axes, true);
  const Value variance = Reduce("ReduceMean", centred * centred, axes, true);
  const Value inverse = Op("Reciprocal", {Sqrt(variance + epsilon)});
  return {centred * inverse, inverse, axes};
}

// The gradient of x, given that of the normalised value.
Value ThroughNormalization(const Value& g, const Normalized& x) {
  const Value mean = Reduce("ReduceMean", g, x.axes, true);
  const Value correlation = Reduce("ReduceMean", g * x.value, x.axes, true);
  return x.inverse_deviation * (g - mean - x.value * correlation);
}

std::vector<int64_t> AxesFrom(int64_t first, int64_t rank) {
  std::vector<int64_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// [channels] as it broadcasts to [batch, channels, spatial].
Value PerChannel(const GradContext& node, const Value& value) {
  if (node.Rank(0) == 2) return value;
  return Unsqueeze(value, AxesFrom(1, node.Rank(0) - 1));
}

Value SumPerChannel(const GradContext& node, const Value& value) {
  std::vector<int64_t> axes = AxesFrom(1, node.Rank(0));
  axes[0] = 0;
  return Reduce("ReduceSum", value, axes);
}

// What the outputs besides the normalised value, mean and inverse deviation, add to the gradient of x.
std::vector<Value> ThroughStatistics(GradContext& node, const Normalized& x) {
  if (!node.HasOutputGradient(1) && !node.HasOutputGradient(2)) return {};
  for (const int64_t axis : x.axes)
    if (!node.InputInfo(0).shape[axis].known()) node.Fail("the extents of its mean are not known");
  const Value count = node.CountAlong(x.axes);
  std::vector<Value> parts;
  if (node.HasOutputGradient(1)) parts.push_back(node.OutputGradient(1) / count);
  if (node.HasOutputGradient(2))
    parts.push_back(-(node.OutputGradient(2) * x.inverse_deviation * x.inverse_deviation * x.value / count));
  return parts;
}

void LayerNormalization(GradContext& node) {
  const int64_t rank = node.Rank(0);
  const auto axes = AxesFrom(node.PositiveAxis(node.Int("axis", -1), rank), rank);
  const Normalized x = Normalize(node.Input(0), axes, node.Float("epsilon", 1e-5f));
  std::vector<Value> parts = ThroughStatistics(node, x);
  if (node.HasOutputGradient()) {
    const Value g = node.OutputGradient();
    if (node.Needs(0)) parts.push_back(ThroughNormalization(g * node.Input(1), x));
    if (node.Needs(1)) node.SetBroadcastGradient(1, g * x.value);
    node.SetBroadcastGradient(2, g);
  } else {
    node.SetDone(1);
    node.SetDone(2);
  }
  if (!node.Needs(0)) return;
  Value total = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
  node.SetGradient(
      0, node.HasOutputGradient() || node.HasOutputGradient(2) ? total : node.ExpandToInput(total, 0));
}

void InstanceNormalization(GradContext& node) {
  const Value g = node.OutputGradient();
  const Normalized x = Normalize(node.Input(0), AxesFrom(2, node.Rank(0)), node.Float("epsilon", 1e-5f));
  if (node.Needs(0)) node.SetGradient(0, ThroughNormalization(g * PerChannel(node, node.Input(1)), x));
  if (node.Needs(1)) node.SetGradient(1, SumPerChannel(node, g * x.value));
  if (node.Needs(2)) node.SetGradient(2, SumPerChannel(node, g));
}

// Scale and bias are per group before opset 21 and per channel since.
void GroupNormalization(GradContext& node) {
  const int64_t groups = node.Int("num_groups", 1);
  const bool per_group = node.opset() < 21;
  const std::vector<int64_t> grouped = {0, groups, -1};
  const Value g = node.OutputGradient();
  const Normalized x = Normalize(Reshape(node.Input(0), grouped), {2}, node.Float("epsilon", 1e-5f));
  const Value g_grouped = Reshape(g, grouped);
  if (node.Needs(0)) {
    const Value scaled = per_group ? g_grouped * Unsqueeze(node.Input(1), {1})
                                   : Reshape(g * PerChannel(node, node.Input(1)), grouped);
    node.SetGradient(0, node.ReshapeToInput(ThroughNormalization(scaled, x), 0));
  }
  if (node.Needs(1)) {
    node.SetGradient(1, per_group ? Reduce("ReduceSum", g_grouped * x.value, {{0, 2}})
                                  : SumPerChannel(node, g * node.ReshapeToInput(x.value, 0)));
  }
  if (node.Needs(2)) {
    node.SetGradient(2, per_group ? Reduce("ReduceSum", g_grouped, {{0, 2}}) : SumPerChannel(node, g));
  }
}

// y = scale * (x - mean) / sqrt(variance + epsilon) + bias with all four given.
void BatchNormalization(GradContext& node) {
  if (node.Int("training_mode", 0) != 0) {
    node.Fail("it is in training mode; export the model in its inference form");
  }
  const Value g = node.OutputGradient();
  const Value scale = node.Input(1);
  const Value inverse = Op("Reciprocal", {Sqrt(node.Input(4) + node.Float("epsilon", 1e-5f))});
  const Value slope = scale * inverse;
  if (node.Needs(0)) node.SetGradient(0, g * PerChannel(node, slope));
  if (!node.Needs(1) && !node.Needs(2) && !node.Needs(3) && !node.Needs(4)) return;
  const Value sum = SumPerChannel(node, g);
  node.SetGradient(2, sum);
  if (node.Needs(3)) node.SetGradient(3, -(sum * slope));
  if (!node.Needs(1) && !node.Needs(4)) return;
  const Value centred = node.Input(0) - PerChannel(node, node.Input(3));
  const Value moment = SumPerChannel(node, g * centred) * inverse;
  node.SetGradient(1, moment);
  if (node.Needs(4)) node.SetGradient(4, -0.5f * moment * slope * inverse);
}

// y = x / (sum |x|^p)^(1/p) for p of 1 or 2; 0 where all is 0, and the derivative there, too.
void LpNormalization(GradContext& node) {
  const std::vector<int64_t> axis = {node.Int("axis", -1)};
  const bool by_absolutes = node.Int("p", 2) == 1;
  const Value x = node.Input(0), g = node.OutputGradient();
  const Value norm = Reduce(by_absolutes ? "ReduceL1" : "ReduceL2", x, axis, true);
  const Value is_zero = Op("Equal", {norm, node.graph().Scalar(0)});
  const Value zero = node.graph().Scalar(0);
  const Value inverse = Op("Where", {is_zero, zero, Op("Reciprocal", {norm})});
  const Value direction = by_absolutes ? Op("Sign", {x}) : node.Output();
  const Value along = Reduce("ReduceSum", g * node.Output(), axis, true);
  node.SetGradient(0, (g - direction * along) * inverse);
}

constexpr std::array kRules = {
    GradientRule{"LayerNormalization", 17, LayerNormalization},
    GradientRule{"InstanceNormalization", 6, InstanceNormalization},
    GradientRule{"GroupNormalization", 18, GroupNormalization},
    GradientRule{"BatchNormalization", 7, BatchNormalization},
    GradientRule{"LpNormalization", 1, LpNormalization},
};

}  // namespace

std::span<const GradientRule> NormalizationRules() { return kRules; }

}  // namespace ort_ed
