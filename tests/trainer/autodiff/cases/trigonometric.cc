#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Sin", "(float[N,3] x) => (float[N,3] y) { y = Sin(x) }"},
    {"Cos", "(float[N,3] x) => (float[N,3] y) { y = Cos(x) }"},
    {"Tan", "(float[N,3] x) => (float[N,3] y) { y = Tan(x) }"},
    {"Atan", "(float[N,3] x) => (float[N,3] y) { y = Atan(x) }"},
    {"Sinh", "(float[N,3] x) => (float[N,3] y) { y = Sinh(x) }"},
    {"Cosh", "(float[N,3] x) => (float[N,3] y) { y = Cosh(x) }"},
    {"Asinh", "(float[N,3] x) => (float[N,3] y) { y = Asinh(x) }"},
    {.name = "Asin", .graph = "(float[N,3] x) => (float[N,3] y) { y = Asin(x) }", .low = -0.8, .high = 0.8},
    {.name = "Acos", .graph = "(float[N,3] x) => (float[N,3] y) { y = Acos(x) }", .low = -0.8, .high = 0.8},
    {.name = "Atanh", .graph = "(float[N,3] x) => (float[N,3] y) { y = Atanh(x) }", .low = -0.8, .high = 0.8},
    {.name = "Acosh", .graph = "(float[N,3] x) => (float[N,3] y) { y = Acosh(x) }", .low = 1.3, .high = 3},
};

}  // namespace

std::span<const GradientCase> TrigonometricCases() { return kCases; }

}  // namespace ort_ed
