// The trigonometric and hyperbolic functions and their inverses.
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

void ChainRule(GradContext& node, const Value& derivative) {
  node.SetGradient(0, node.CompactOutputGradient() * derivative);
}

void DividedBy(GradContext& node, const Value& divisor) {
  node.SetGradient(0, node.CompactOutputGradient() / divisor);
}

Value Square(const Value& x) { return x * x; }

void Sin(GradContext& node) { ChainRule(node, Op("Cos", {node.Input(0)})); }
void Cos(GradContext& node) { ChainRule(node, -Op("Sin", {node.Input(0)})); }
void Tan(GradContext& node) { ChainRule(node, 1 + Square(node.Output())); }
void Asin(GradContext& node) { DividedBy(node, Sqrt(1 - Square(node.Input(0)))); }
void Acos(GradContext& node) { DividedBy(node, -Sqrt(1 - Square(node.Input(0)))); }
void Atan(GradContext& node) { DividedBy(node, 1 + Square(node.Input(0))); }
void Sinh(GradContext& node) { ChainRule(node, Op("Cosh", {node.Input(0)})); }
void Cosh(GradContext& node) { ChainRule(node, Op("Sinh", {node.Input(0)})); }
void Asinh(GradContext& node) { DividedBy(node, Sqrt(Square(node.Input(0)) + 1)); }
void Acosh(GradContext& node) { DividedBy(node, Sqrt(Square(node.Input(0)) - 1)); }
void Atanh(GradContext& node) { DividedBy(node, 1 - Square(node.Input(0))); }

constexpr std::array kRules = {
    GradientRule{"Sin", 7, Sin},     GradientRule{"Cos", 7, Cos},     GradientRule{"Tan", 7, Tan},
    GradientRule{"Asin", 7, Asin},   GradientRule{"Acos", 7, Acos},   GradientRule{"Atan", 7, Atan},
    GradientRule{"Sinh", 9, Sinh},   GradientRule{"Cosh", 9, Cosh},   GradientRule{"Asinh", 9, Asinh},
    GradientRule{"Acosh", 9, Acosh}, GradientRule{"Atanh", 9, Atanh},
};

}  // namespace

std::span<const GradientRule> TrigonometricRules() { return kRules; }

}  // namespace ort_ed
