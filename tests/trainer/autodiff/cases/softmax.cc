#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Softmax", "(float[N,4] x) => (float[N,4] y) { y = Softmax(x) }"},
    {"Softmax", "(float[N,3,2] x) => (float[N,3,2] y) { y = Softmax<axis = 1>(x) }"},
    {"Softmax", "(float[N,3] x) => (float[N,3] y) { y = Softmax<axis = 0>(x) }"},
    {"LogSoftmax", "(float[N,4] x) => (float[N,4] y) { y = LogSoftmax(x) }"},
    {"LogSoftmax", "(float[N,3,2] x) => (float[N,3,2] y) { y = LogSoftmax<axis = 1>(x) }"},
    {"LogSoftmax", "(float[N,3] x) => (float[N,3] y) { y = LogSoftmax<axis = 0>(x) }"},
};

}  // namespace

std::span<const GradientCase> SoftmaxCases() { return kCases; }

}  // namespace ort_ed
