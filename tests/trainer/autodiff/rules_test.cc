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
    {.name = "Conv", .graph = "(float[N,2,5] x, float[3,2,3] w) => (float[N,3,3] y) { y = Conv(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,7] x, float[3,2,3] w, float[3] b) => (float[N,3,2] y) { y = Conv<strides = [2], "
              "pads = [1, 0], dilations = [2]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,2,5,5] x, float[3,2,3,3] w, float[3] b) => (float[N,3,5,5] y) { y = Conv<pads = [1, "
              "1, 1, 1]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,1,4,4] x, float[2,1,1,1] w) => (float[N,2,4,4] y) { y = Conv(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,8,4,3] x, float[2,8,3,3] w) => (float[N,2,4,3] y) { y = Conv<pads = [1, 1, 1, 1]>(x, "
              "w) }"},
    {.name = "Conv",
     .graph = "(float[N,9,5,6] x, float[4,9,3,3] w, float[4] b) => (float[N,4,3,3] y) { y = Conv<strides = "
              "[2, 2], pads = [1, 1, 1, 1]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,2,6,5] x, float[3,2,3,2] w) => (float[N,3,3,2] y) { y = Conv<strides = [2, 3], pads "
              "= [0, 1, 2, 0]>(x, w) }"},
    {.name = "Conv",
     .graph =
         "(float[N,2,6,6] x, float[3,2,1,1] w) => (float[N,3,3,3] y) { y = Conv<strides = [2, 2]>(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,4,5,5] x, float[6,2,3,3] w, float[6] b) => (float[N,6,5,5] y) { y = Conv<group = 2, "
              "pads = [1, 1, 1, 1]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,4,6,5] x, float[4,1,3,3] w) => (float[N,4,2,1] y) { y = Conv<group = 4, strides = "
              "[2, 1], dilations = [1, 2]>(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,5,4] x, float[3,2,2,3] w) => (float[N,3,3,4] y) { y = Conv<auto_pad = "
              "\"SAME_UPPER\", strides = [2, 1]>(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,5,4] x, float[3,2,2,3] w) => (float[N,3,3,4] y) { y = Conv<auto_pad = "
              "\"SAME_LOWER\", strides = [2, 1]>(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,5,4] x, float[3,2,2,3] w) => (float[N,3,4,2] y) { y = Conv<auto_pad = "
              "\"VALID\">(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,3,3] x, float[2,2,1,1] w) => (float[N,2,5,5] y) { y = Conv<pads = [1, 1, 1, 1]>(x, "
              "w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,3,3] x, float[2,2,2,2] w) => (float[N,2,6,6] y) { y = Conv<pads = [2, 2, 2, 2]>(x, "
              "w) }"},
    {.name = "ConvTranspose",
     .graph =
         "(float[N,3,4] x, float[3,2,3] w) => (float[N,2,9] y) { y = ConvTranspose<strides = [2]>(x, w) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,3,3,3] x, float[3,2,3,3] w, float[2] b) => (float[N,2,6,6] y) { y = "
              "ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]>(x, w, b) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,4,3,3] x, float[4,2,2,3] w) => (float[N,4,5,5] y) { y = ConvTranspose<group = 2, "
              "dilations = [2, 1]>(x, w) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,2,3,4] x, float[2,3,3,3] w) => (float[N,3,6,8] y) { y = ConvTranspose<strides = [2, "
              "2], auto_pad = \"SAME_UPPER\">(x, w) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,2,3,4] x, float[2,3,3,3] w) => (float[N,3,6,8] y) { y = ConvTranspose<strides = [2, "
              "2], auto_pad = \"SAME_LOWER\">(x, w) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,2,3,4] x, float[2,3,3,3] w) => (float[N,3,8,8] y) { y = ConvTranspose<strides = [3, "
              "2], output_shape = [8, 8]>(x, w) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,6,6] x) => (float[N,2,3,3] y) { y = AveragePool<kernel_shape = [2, 2], strides = "
              "[2, 2]>(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,5,4] x) => (float[N,2,3,2] y) { y = AveragePool<kernel_shape = [3, 3], strides = "
              "[2, 2], pads = [1, 1, 1, 0]>(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,5,5] x) => (float[N,2,3,3] y) { y = AveragePool<kernel_shape = [3, 3], strides = "
              "[2, 2], pads = [1, 1, 1, 1], count_include_pad = 1>(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,6] x) => (float[N,2,3] y) { y = AveragePool<kernel_shape = [3], strides = [2], "
              "ceil_mode = 1>(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,6] x) => (float[N,2,4] y) { y = AveragePool<kernel_shape = [3], strides = [2], "
              "pads = [1, 1], ceil_mode = 1, count_include_pad = 1>(x) }",
     .opset = 19},
    {.name = "AveragePool",
     .graph = "(float[N,2,6] x) => (float[N,2,6] y) { y = AveragePool<kernel_shape = [3], auto_pad = "
              "\"SAME_UPPER\">(x) }"},
    {.name = "AveragePool",
     .graph =
         "(float[N,1,7] x) => (float[N,1,3] y) { y = AveragePool<kernel_shape = [3], dilations = [2]>(x) }",
     .opset = 19},
    {.name = "MaxPool",
     .graph = "(float[N,2,6,6] x) => (float[N,2,3,3] y) { y = MaxPool<kernel_shape = [2, 2], strides = [2, "
              "2]>(x) }"},
    {.name = "MaxPool",
     .graph = "(float[N,2,5,5] x) => (float[N,2,5,5] y) { y = MaxPool<kernel_shape = [3, 3], pads = [1, 1, "
              "1, 1]>(x) }"},
    {.name = "MaxPool",
     .graph = "(float[N,2,7] x) => (float[N,2,3] y) { y = MaxPool<kernel_shape = [3], strides = [3], "
              "ceil_mode = 1>(x) }"},
    {.name = "MaxPool",
     .graph = "(float[N,2,7] x) => (float[N,2,5] y) { y = MaxPool<kernel_shape = [2], dilations = [2]>(x) }"},
    {.name = "MaxPool",
     .graph = "(float[N,2,7] x) => (float[N,2,4] y) { y = MaxPool<kernel_shape = [3], strides = [2], "
              "auto_pad = \"SAME_LOWER\">(x) }"},
    {.name = "GlobalAveragePool",
     .graph = "(float[N,2,3,4] x) => (float[N,2,1,1] y) { y = GlobalAveragePool(x) }"},
    {.name = "GlobalAveragePool",
     .graph = "(float[N,2,5] x) => (float[N,2,1] y) { y = GlobalAveragePool(x) }"},
    {.name = "GlobalMaxPool", .graph = "(float[N,2,3,4] x) => (float[N,2,1,1] y) { y = GlobalMaxPool(x) }"},
};

class RuleTest : public testing::TestWithParam<GradientCase> {};

TEST_P(RuleTest, MatchesCentralDifferences) { CheckGradients(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(kCases), [](const auto& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.index);
});

}  // namespace
}  // namespace ort_ed
