// Arithmetic with broadcasting, and functions of one number.
#include <array>
#include <cmath>
#include <numbers>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// The gradient's first factor. Left compact where `full`, the other factor, has the output's shape anyway.
Value OutputGradientTimes(GradContext& node, int full) {
  return node.SameShape(full) ? node.CompactOutputGradient() : node.OutputGradient();
}

// y = f(x): f'(x) has the output's full shape.
void ChainRule(GradContext& node, const Value& derivative) {
  node.SetGradient(0, node.CompactOutputGradient() * derivative);
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

// Swish, y = h * s with s = Sigmoid(z): the gradient of z is g * y * (1 - s), without a detour by that of s.
// z is h itself or, with a slope, h times something.
bool Swish(GradContext& node, int h, int s) {
  const onnx::NodeProto* sigmoid = node.Producer(node.node().input(s));
  if (!sigmoid || sigmoid->op_type() != "Sigmoid" || !node.SameShape(h) || !node.SameShape(s)) return false;
  if (node.IsWanted(node.node().input(s))) return false;
  const std::string& z = sigmoid->input(0);
  const Value gate = node.Input(s);
  const Value rest = node.Output() * (1 - gate);
  if (z == node.node().input(h)) {
    if (node.Needs(h)) node.SetGradientOf(z, node.CompactOutputGradient() * (gate + rest), s);
    node.SetDone(h);
    return true;
  }
  const onnx::NodeProto* scaled = node.Producer(z);
  if (!scaled || scaled->op_type() != "Mul") return false;
  if (scaled->input(0) != node.node().input(h) && scaled->input(1) != node.node().input(h)) return false;
  if (node.Needs(h)) node.SetGradient(h, node.CompactOutputGradient() * gate);
  if (node.Needs(s)) node.SetGradientOf(z, node.CompactOutputGradient() * rest, s);
  return true;
}

void Mul(GradContext& node) {
  if (Swish(node, 0, 1) || Swish(node, 1, 0)) return;
  if (node.Needs(0)) node.SetBroadcastGradient(0, OutputGradientTimes(node, 1) * node.Input(1));
  if (node.Needs(1)) node.SetBroadcastGradient(1, OutputGradientTimes(node, 0) * node.Input(0));
}

void Div(GradContext& node) {
  const Value over_divisor = node.OutputGradient() / node.Input(1);
  node.SetBroadcastGradient(0, over_divisor);
  if (node.Needs(1)) node.SetBroadcastGradient(1, -(over_divisor * node.Output()));
}

// p - 1, but 1 where p = 0: there p * x^(p-1) would be 0 * inf at x = 0.
Value LoweredExponent(GradContext& node, const Value& p) {
  if (node.ConstantNumber(1).value_or(0) != 0) return p - 1;
  const Value is_zero = Op("Equal", {p, node.graph().Scalar(0)});
  return Op("Where", {is_zero, node.graph().Scalar(1), p - 1});
}

// The exponent may be of another type than the base.
void Pow(GradContext& node) {
  const Value x = node.Input(0);
  const Value g = node.OutputGradient();
  if (node.Needs(0)) {
    const auto exponent = node.ConstantNumber(1);
    if (exponent == 2.0 && node.SameShape(0)) {
      node.SetGradient(0, g * (2 * x));
    } else {
      const Value p = Op("Cast", {node.Input(1)}, {{"to", int64_t{node.OutputInfo().type}}});
      node.SetBroadcastGradient(0, g * (p * Op("Pow", {x, LoweredExponent(node, p)})));
    }
  }
  if (node.Needs(1)) {  // d/dp x^p = x^p log x, and 0 where x = 0
    const Value positive = Op("Greater", {x, node.graph().Scalar(0)});
    const Value log = Op("Log", {Op("Where", {positive, x, node.graph().Scalar(1)})});
    node.SetBroadcastGradient(1, g * (node.Output() * log));
  }
}

void Neg(GradContext& node) { node.SetGradient(0, -node.OutputGradient()); }
void Abs(GradContext& node) { ChainRule(node, Op("Sign", {node.Input(0)})); }
void Exp(GradContext& node) { ChainRule(node, node.Output()); }
void Log(GradContext& node) { node.SetGradient(0, node.CompactOutputGradient() / node.Input(0)); }
void Sqrt(GradContext& node) { node.SetGradient(0, node.CompactOutputGradient() / (2 * node.Output())); }
void Reciprocal(GradContext& node) { ChainRule(node, -(node.Output() * node.Output())); }

void Erf(GradContext& node) {
  const Value x = node.Input(0);
  const auto scale = static_cast<float>(2 * std::numbers::inv_sqrtpi);
  ChainRule(node, scale * Op("Exp", {-(x * x)}));
}

// y = x - b * n, n whole. Of numbers (and not whole ones) only with fmod = 1.
void Mod(GradContext& node) {
  const Value g = node.OutputGradient();
  node.SetBroadcastGradient(0, g);
  if (!node.Needs(1)) return;
  const Value whole = Op("Round", {(node.Input(0) - node.Output()) / node.Input(1)});
  node.SetBroadcastGradient(1, -(g * whole));
}

void SumOfInputs(GradContext& node) {
  const Value g = node.OutputGradient();
  for (int i = 0; i < node.InputCount(); ++i) node.SetBroadcastGradient(i, g);
}

void MeanOfInputs(GradContext& node) {
  const Value g = node.OutputGradient() / static_cast<float>(node.InputCount());
  for (int i = 0; i < node.InputCount(); ++i) node.SetBroadcastGradient(i, g);
}

// Max and Min: inputs that are equal share the gradient.
void Extremum(GradContext& node) {
  std::vector<Value> chosen;
  for (int i = 0; i < node.InputCount(); ++i) {
    chosen.push_back(node.Mask(Op("Equal", {node.Input(i), node.Output()})));
  }
  const Value share = node.OutputGradient() / node.graph().Node("Sum", chosen);
  for (int i = 0; i < node.InputCount(); ++i) {
    if (node.Needs(i)) node.SetBroadcastGradient(i, share * chosen[i]);
  }
}

// The limits themselves belong to the inside, where the derivative is 1. Where they cross, the upper one
// wins.
void Clip(GradContext& node) {
  const Value x = node.Input(0);
  const Value g = node.OutputGradient();
  const Value zero = node.graph().Scalar(0);
  if (node.Needs(0)) node.SetGradient(0, Op("Where", {Op("Equal", {x, node.Output()}), g, zero}));
  if (node.Needs(1)) {
    Value is_below = Op("Less", {x, node.Input(1)});
    if (node.HasInput(2)) is_below = Op("And", {is_below, Op("Less", {node.Input(1), node.Input(2)})});
    node.SetBroadcastGradient(1, Op("Where", {is_below, g, zero}));
  }
  if (node.Needs(2)) {
    const Value raised = node.HasInput(1) ? Op("Max", {x, node.Input(1)}) : x;
    node.SetBroadcastGradient(2, Op("Where", {Op("Greater", {raised, node.Input(2)}), g, zero}));
  }
}

void Where(GradContext& node) {
  const Value g = node.OutputGradient();
  const Value zero = node.graph().Scalar(0);
  if (node.Needs(1)) node.SetBroadcastGradient(1, Op("Where", {node.Input(0), g, zero}));
  if (node.Needs(2)) node.SetBroadcastGradient(2, Op("Where", {node.Input(0), zero, g}));
}

constexpr std::array kRules = {
    GradientRule{"Add", 7, Add},         GradientRule{"Sub", 7, Sub},
    GradientRule{"Mul", 7, Mul},         GradientRule{"Div", 7, Div},
    GradientRule{"Pow", 7, Pow},         GradientRule{"Neg", 6, Neg},
    GradientRule{"Abs", 6, Abs},         GradientRule{"Exp", 6, Exp},
    GradientRule{"Log", 6, Log},         GradientRule{"Sqrt", 6, Sqrt},
    GradientRule{"Erf", 9, Erf},         GradientRule{"Reciprocal", 6, Reciprocal},
    GradientRule{"Sum", 6, SumOfInputs}, GradientRule{"Mean", 6, MeanOfInputs},
    GradientRule{"Max", 6, Extremum},    GradientRule{"Min", 6, Extremum},
    GradientRule{"Clip", 6, Clip},       GradientRule{"Where", 9, Where},
    GradientRule{"Mod", 10, Mod},
};

}  // namespace

std::span<const GradientRule> ElementwiseRules() { return kRules; }

}  // namespace ort_ed
