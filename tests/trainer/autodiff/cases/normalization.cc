#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"LayerNormalization",
     "(float[N,2,4] x, float[4] s, float[4] b) => "
     "(float[N,2,4] y) { y = LayerNormalization(x, s, b) }"},
    {"LayerNormalization",
     "(float[N,2,4] x, float[2,4] s, float[2,4] b) => "
     "(float[N,2,4] y) { y = LayerNormalization<axis = 1, epsilon = 0.01>(x, s, b) }"},
    {"LayerNormalization", "(float[N,5] x, float[5] s) => (float[N,5] y) { y = LayerNormalization(x, s) }"},
    {"LayerNormalization",
     "(float[N,2,4] x, float[4] s) => (float[N,2,4] y) { z, m, r = LayerNormalization(x, s) "
     "a = Mul(z, r) y = Add(a, m) }"},
    {.name = "LayerNormalization",
     .graph = "(float[N,2,4] x, float[4] s) => (float[N,2,1] y) { z, y = LayerNormalization(x, s) }",
     .zero = "s"},
    {"InstanceNormalization",
     "(float[N,2,3,2] x, float[2] s, float[2] b) => "
     "(float[N,2,3,2] y) { y = InstanceNormalization(x, s, b) }"},
    {"InstanceNormalization",
     "(float[N,2,5] x, float[2] s, float[2] b) => "
     "(float[N,2,5] y) { y = InstanceNormalization<epsilon = 0.1>(x, s, b) }"},
    {.name = "GroupNormalization",
     .graph = "(float[N,4,3] x, float[2] s, float[2] b) => "
              "(float[N,4,3] y) { y = GroupNormalization<num_groups = 2>(x, s, b) }",
     .opset = 18},
    {.name = "GroupNormalization",
     .graph = "(float[N,4,3,2] x, float[4] s, float[4] b) => "
              "(float[N,4,3,2] y) { y = GroupNormalization<num_groups = 2, epsilon = 0.01>(x, s, b) }",
     .opset = 21,
     .in_float = true},
    {"BatchNormalization",
     "(float[N,2,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => "
     "(float[N,2,3] y) { w = Mul(v, v) y = BatchNormalization<epsilon = 0.1>(x, s, b, m, w) }"},
    {"BatchNormalization",
     "(float[N,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => "
     "(float[N,3] y) { w = Exp(v) y = BatchNormalization(x, s, b, m, w) }"},
    {"LpNormalization", "(float[N,4] x) => (float[N,4] y) { y = LpNormalization(x) }"},
    {"LpNormalization", "(float[N,4,2] x) => (float[N,4,2] y) { y = LpNormalization<axis = 1, p = 1>(x) }"},
};

}  // namespace

std::span<const GradientCase> NormalizationCases() { return kCases; }

}  // namespace ort_ed
