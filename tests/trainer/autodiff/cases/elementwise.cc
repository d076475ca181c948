#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Add", "(float[N,3] a, float[N,3] b) => (float[N,3] y) { y = Add(a, b) }"},
    {"Add", "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Add(a, b) }"},
    {"Add", "(float[2,1,3] a, float[N,1] b) => (float[2,N,3] y) { y = Add(a, b) }"},
    {"Add", "(float[N,1] a, float[M,3] b) => (float[K,3] y) { y = Add(a, b) }"},
    {"Add", "(float a, float[1,2,1] b) => (float[1,2,1] y) { y = Add(a, b) }"},
    {"Add", "(float[N,2] a) => (float[N,2] y) { y = Add(a, a) }"},
    {"Sub", "(float[3] a, float[N,3] b) => (float[N,3] y) { y = Sub(a, b) }"},
    {"Sub", "(float[N,3] a, float[N,1] b) => (float[N,3] y) { y = Sub(a, b) }"},
    {"Mul", "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Mul(a, b) }"},
    {"Mul", "(float[N,3] a, float[1] b) => (float[N,3] y) { y = Mul(a, b) }"},
    {"Mul", "(float[N,1] a, float[1,4] b) => (float[N,4] y) { y = Mul(a, b) }"},
    {"Mul", "(float[N] a) => (float[N] y) { y = Mul(a, a) }"},
    {.name = "Div", .graph = "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Div(a, b) }", .low = 0.5},
    {.name = "Div", .graph = "(float a, float[N,3] b) => (float[N,3] y) { y = Div(a, b) }", .low = 0.5},
    {"Neg", "(float[N,3] x) => (float[N,3] y) { y = Neg(x) }"},
    {"Exp", "(float[N,3] x) => (float[N,3] y) { y = Exp(x) }"},
    {.name = "Log", .graph = "(float[N,3] x) => (float[N,3] y) { y = Log(x) }", .low = 0.3},
    {"Abs", "(float[N,3] x) => (float[N,3] y) { y = Abs(x) }"},
    {.name = "Sqrt", .graph = "(float[N,3] x) => (float[N,3] y) { y = Sqrt(x) }", .low = 0.2},
    {.name = "Reciprocal", .graph = "(float[N,3] x) => (float[N,3] y) { y = Reciprocal(x) }", .low = 0.4},
    {"Erf", "(float[N,3] x) => (float[N,3] y) { y = Erf(x) }"},
    {.name = "Pow", .graph = "(float[N,3] x, float[3] p) => (float[N,3] y) { y = Pow(x, p) }", .low = 0.3},
    {.name = "Pow", .graph = "(float[3] x, float[N,1] p) => (float[N,3] y) { y = Pow(x, p) }", .low = 0.3},
    {"Pow", "(float[N,3] x) => (float[N,3] y) { p = Constant<value_float = 2.0>() y = Pow(x, p) }"},
    {"Pow", "(float[N,3] x) => (float[N,3] y) { p = Constant<value_int = 3>() y = Pow(x, p) }"},
    {"Pow",
     "(float[N,3] x) => "
     "(float[1,N,3] y) { p = Constant<value = float[1,1,1] {2.0}>() y = Pow(x, p) }"},
    {"Pow",
     "(float[N,4] x) => "
     "(float[N,4] y) { r = Relu(x) p = Constant<value = float[4] {0.0, 1.0, 2.0, 3.0}>() y = Pow(r, p) }"},
    {"Pow", "(float[N,3] x) => (float[N,3] y) { r = Relu(x) p = Constant<value_int = 0>() y = Pow(r, p) }"},
    {"Mod",
     "(float[N,3] a, float[3] b) => "
     "(float[N,3] y) { s = Constant<value_float = 5.0>() z = Mul(a, s) y = Mod<fmod = 1>(z, b) }"},
    {"Sum", "(float[N,3] a, float[3] b, float[N,1] c) => (float[N,3] y) { y = Sum(a, b, c) }"},
    {"Sum", "(float[N,3] a) => (float[N,3] y) { y = Sum(a) }"},
    {"Mean", "(float[N,3] a, float[3] b, float c) => (float[N,3] y) { y = Mean(a, b, c) }"},
    {"Max", "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Max(a, b) }"},
    {"Max", "(float[N,3] a, float b, float[N,1] c) => (float[N,3] y) { y = Max(a, b, c) }"},
    {"Min", "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Min(a, b) }"},
    {"Min", "(float[N,3] a, float b, float[N,1] c) => (float[N,3] y) { y = Min(a, b, c) }"},
    {.name = "Clip",
     .graph = "(float[N,4] x, float low, float high) => "
              "(float[N,4] y) { h = Abs(high) l = Neg(h) y = Clip(x, l, h) }",
     .zero = "low"},
    {.name = "Clip",
     .graph = "(float[N,4] x, float low, float high) => "
              "(float[N,4] y) { h = Abs(high) l = Add(h, h) y = Clip(x, l, h) }",
     .zero = "low"},
    {"Clip",
     "(float[N,4] x) => "
     "(float[N,4] y) { high = Constant<value_float = 0.5>() y = Clip(x, , high) }"},
    {"Clip", "(float[N,4] x, float low) => (float[N,4] y) { y = Clip(x, low) }"},
    {"Where", "(float[N,3] a, float[3] b, bool[N,1] c) => (float[N,3] y) { y = Where(c, a, b) }"},
    {"Where", "(float[N,1] a, float b, bool[3] c) => (float[N,3] y) { y = Where(c, a, b) }"},
    {"Where",
     "(float[N,3] a) => (float[N,3] y) { z = Constant<value_float = 0.1>() c = Greater(a, z) b = "
     "Mul(a, a) y = Where(c, b, z) }"},
    {.name = "Mul",
     .graph = "(float[N,4] x) => (float[N,4] y) { s = Sigmoid(x) y = Mul(x, s) }",
     .low = -3,
     .high = 3},
    {.name = "Mul",
     .graph = "(float[N,4] x, float b) => (float[N,4] y) { z = Mul(x, b) s = Sigmoid(z) y = Mul(s, x) }",
     .low = -3,
     .high = 3},
    {.name = "Mul",
     .graph = "(float[N,4] x, float[4] b) => (float[N,4] y) { z = Mul(b, x) s = Sigmoid(z) y = Mul(x, s) }",
     .low = -3,
     .high = 3},
    {"Mul",
     "(float[N,4] x, float b) => "
     "(float[N,4] y) { z = Mul(x, b) s = Sigmoid(z) h = Mul(x, s) y = Add(h, s) }"},
};

}  // namespace

std::span<const GradientCase> ElementwiseCases() { return kCases; }

}  // namespace ort_ed
