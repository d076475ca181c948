#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {.name = "Sigmoid", .graph = "(float[N,3] x) => (float[N,3] y) { y = Sigmoid(x) }", .low = -4, .high = 4},
    {"Tanh", "(float[N,3] x) => (float[N,3] y) { y = Tanh(x) }"},
    {"Relu", "(float[N,3] x) => (float[N,3] y) { y = Relu(x) }"},
    {"Softplus", "(float[N,3] x) => (float[N,3] y) { y = Softplus(x) }"},
    {"LeakyRelu", "(float[N,3] x) => (float[N,3] y) { y = LeakyRelu(x) }"},
    {"LeakyRelu", "(float[N,3] x) => (float[N,3] y) { y = LeakyRelu<alpha = 0.3>(x) }"},
    {"PRelu", "(float[N,3] x, float[3] a) => (float[N,3] y) { y = PRelu(x, a) }"},
    {"PRelu", "(float[N,2,3] x, float[2,1] a) => (float[N,2,3] y) { y = PRelu(x, a) }"},
    {"Elu", "(float[N,3] x) => (float[N,3] y) { y = Elu(x) }"},
    {"Elu", "(float[N,3] x) => (float[N,3] y) { y = Elu<alpha = 0.7>(x) }"},
    {"Selu", "(float[N,3] x) => (float[N,3] y) { y = Selu(x) }"},
    {"Selu", "(float[N,3] x) => (float[N,3] y) { y = Selu<alpha = 1.2, gamma = 0.9>(x) }"},
    {"Celu", "(float[N,3] x) => (float[N,3] y) { y = Celu(x) }"},
    {"Celu", "(float[N,3] x) => (float[N,3] y) { y = Celu<alpha = 0.6>(x) }"},
    {.name = "HardSigmoid",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = HardSigmoid(x) }",
     .low = -4,
     .high = 4},
    {.name = "HardSigmoid",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = HardSigmoid<alpha = 0.4, beta = 0.3>(x) }",
     .low = -3,
     .high = 3},
    {.name = "HardSwish",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = HardSwish(x) }",
     .low = -5,
     .high = 5},
    {.name = "Mish", .graph = "(float[N,3] x) => (float[N,3] y) { y = Mish(x) }", .opset = 18},
    {.name = "Gelu", .graph = "(float[N,3] x) => (float[N,3] y) { y = Gelu(x) }", .opset = 20},
    {.name = "Gelu",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = Gelu<approximate = \"tanh\">(x) }",
     .opset = 20},
    {.name = "Swish", .graph = "(float[N,3] x) => (float[N,3] y) { y = Swish(x) }", .opset = 24},
    {.name = "Swish", .graph = "(float[N,3] x) => (float[N,3] y) { y = Swish<alpha = 1.7>(x) }", .opset = 24},
    {"Softsign", "(float[N,3] x) => (float[N,3] y) { y = Softsign(x) }"},
    {"ThresholdedRelu", "(float[N,3] x) => (float[N,3] y) { y = ThresholdedRelu<alpha = 0.4>(x) }"},
    {.name = "ThresholdedRelu",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ThresholdedRelu(x) }",
     .low = -2,
     .high = 2},
    {"Shrink", "(float[N,5] x) => (float[N,5] y) { y = Shrink(x) }"},
    {"Shrink", "(float[N,5] x) => (float[N,5] y) { y = Shrink<lambd = 0.8, bias = 0.3>(x) }"},
};

}  // namespace

std::span<const GradientCase> ActivationCases() { return kCases; }

}  // namespace ort_ed
