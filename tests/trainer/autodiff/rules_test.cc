// Every gradient rule against central differences.
#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {.name = "Add", .graph = "(float[N,3] a, float[N,3] b) => (float[N,3] y) { y = Add(a, b) }"},
    {.name = "Add", .graph = "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Add(a, b) }"},
    {.name = "Add", .graph = "(float[2,1,3] a, float[N,1] b) => (float[2,N,3] y) { y = Add(a, b) }"},
    {.name = "Add", .graph = "(float[N,1] a, float[M,3] b) => (float[K,3] y) { y = Add(a, b) }"},
    {.name = "Add", .graph = "(float a, float[1,2,1] b) => (float[1,2,1] y) { y = Add(a, b) }"},
    {.name = "Add", .graph = "(float[N,2] a) => (float[N,2] y) { y = Add(a, a) }"},
    {.name = "Sub", .graph = "(float[3] a, float[N,3] b) => (float[N,3] y) { y = Sub(a, b) }"},
    {.name = "Sub", .graph = "(float[N,3] a, float[N,1] b) => (float[N,3] y) { y = Sub(a, b) }"},
    {.name = "Mul", .graph = "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Mul(a, b) }"},
    {.name = "Mul", .graph = "(float[N,3] a, float[1] b) => (float[N,3] y) { y = Mul(a, b) }"},
    {.name = "Mul", .graph = "(float[N,1] a, float[1,4] b) => (float[N,4] y) { y = Mul(a, b) }"},
    {.name = "Mul", .graph = "(float[N] a) => (float[N] y) { y = Mul(a, a) }"},
    {.name = "Div", .graph = "(float[N,3] a, float[3] b) => (float[N,3] y) { y = Div(a, b) }", .low = 0.5},
    {.name = "Div", .graph = "(float a, float[N,3] b) => (float[N,3] y) { y = Div(a, b) }", .low = 0.5},
    {.name = "Neg", .graph = "(float[N,3] x) => (float[N,3] y) { y = Neg(x) }"},
    {.name = "Exp", .graph = "(float[N,3] x) => (float[N,3] y) { y = Exp(x) }"},
    {.name = "Log", .graph = "(float[N,3] x) => (float[N,3] y) { y = Log(x) }", .low = 0.3},
    {.name = "Sigmoid", .graph = "(float[N,3] x) => (float[N,3] y) { y = Sigmoid(x) }", .low = -4, .high = 4},
    {.name = "Tanh", .graph = "(float[N,3] x) => (float[N,3] y) { y = Tanh(x) }"},
    {.name = "Relu", .graph = "(float[N,3] x) => (float[N,3] y) { y = Relu(x) }"},
    {.name = "Softplus", .graph = "(float[N,3] x) => (float[N,3] y) { y = Softplus(x) }"},
    {.name = "MatMul", .graph = "(float[N,3] a, float[3,4] b) => (float[N,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[2,N,3] a, float[3,4] b) => (float[2,N,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[N,2,3] a, float[N,3,4] b) => (float[N,2,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMul",
     .graph = "(float[N,1,2,3] a, float[5,3,4] b) => (float[N,5,2,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[2,3] a, float[N,3,4] b) => (float[N,2,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[N,3] a, float[3] b) => (float[N] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[3] a, float[3,2] b) => (float[2] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[3] a, float[N,3,2] b) => (float[N,2] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[N,2,3] a, float[3] b) => (float[N,2] y) { y = MatMul(a, b) }"},
    {.name = "MatMul", .graph = "(float[3] a, float[3] b) => (float y) { y = MatMul(a, b) }"},
    {.name = "Gemm",
     .graph = "(float[N,3] a, float[3,4] b, float[4] c) => (float[N,4] y) { y = Gemm(a, b, c) }"},
    {.name = "Gemm",
     .graph = "(float[N,3] a, float[4,3] b, float[1,4] c) => (float[N,4] y) "
              "{ y = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(a, b, c) }"},
    {.name = "Gemm",
     .graph =
         "(float[3,N] a, float[3,4] b, float[N,1] c) => (float[N,4] y) { y = Gemm<transA = 1>(a, b, c) }"},
    {.name = "Gemm",
     .graph = "(float[3,N] a, float[4,3] b) => (float[N,4] y) "
              "{ y = Gemm<transA = 1, transB = 1, alpha = 1.5>(a, b) }"},
    {.name = "Gemm",
     .graph = "(float[N,3] a, float[3,4] b, float c) => (float[N,4] y) { y = Gemm<beta = 0.5>(a, b, c) }"},
    {.name = "ReduceSum",
     .graph = "(float[N,2,3] x) => (float[2] y) { axes = Constant<value_ints = [0, -1]>() "
              "y = ReduceSum<keepdims = 0>(x, axes) }"},
    {.name = "ReduceSum",
     .graph = "(float[N,2,3] x) => (float[N,1,3] y) <int64[1] axes = {1}> { y = ReduceSum(x, axes) }"},
    {.name = "ReduceSum", .graph = "(float[N,3] x) => (float[1,1] y) { y = ReduceSum(x) }"},
    {.name = "ReduceSum",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceSum<noop_with_empty_axes = 1>(x) }"},
    {.name = "ReduceMean",
     .graph = "(float[N,2,3] x) => (float[N,3] y) { y = ReduceMean<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceMean", .graph = "(float[N,2,3] x) => (float[1,2,3] y) { y = ReduceMean<axes = [0]>(x) }"},
    {.name = "ReduceMean",
     .graph = "(float[N,2,3] x) => (float[N] y) { axes = Constant<value_ints = [-1, 1]>() "
              "y = ReduceMean<keepdims = 0>(x, axes) }",
     .opset = 18},
    {.name = "Transpose", .graph = "(float[N,2,3] x) => (float[3,2,N] y) { y = Transpose(x) }"},
    {.name = "Transpose",
     .graph = "(float[N,2,3] x) => (float[2,3,N] y) { y = Transpose<perm = [1, 2, 0]>(x) }"},
    {.name = "Reshape",
     .graph = "(float[N,2,3] x) => (float[N,6] y) { s = Constant<value_ints = [0, 6]>() y = Reshape(x, s) }"},
    {.name = "Reshape",
     .graph = "(float[N,M] x) => (float[M,N] y) { t = Transpose(x) s = Shape(t) y = Reshape(x, s) }"},
    {.name = "Squeeze",
     .graph = "(float[N,1,3] x) => (float[N,3] y) { a = Constant<value_ints = [1]>() y = Squeeze(x, a) }"},
    {.name = "Unsqueeze",
     .graph = "(float[N,3] x) => (float[N,1,3] y) { a = Constant<value_ints = [1]>() y = Unsqueeze(x, a) }"},
    {.name = "Flatten", .graph = "(float[N,2,3] x) => (float[N,6] y) { y = Flatten(x) }"},
    {.name = "Identity", .graph = "(float[N,3] x) => (float[N,3] y) { y = Identity(x) }"},
    {.name = "Cast",
     .graph = "(float[N,3] x) => (float[N,3] y) { d = Cast<to = 11>(x) e = Exp(d) s = Mul(e, e) y = "
              "Cast<to = 1>(s) }"},
};

class RuleTest : public testing::TestWithParam<GradientCase> {};

TEST_P(RuleTest, MatchesCentralDifferences) { CheckGradients(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(kCases), [](const auto& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.index);
});

}  // namespace
}  // namespace ort_ed
