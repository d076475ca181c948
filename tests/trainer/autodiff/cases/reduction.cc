#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {.name = "ReduceMean",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceMean<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceMax",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceMax<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceMin",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceMin<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceProd",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceProd<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceSumSquare",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceSumSquare<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceL1",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceL1<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceL2",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceL2<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {.name = "ReduceLogSumExp",
     .graph = "(float[N,3] x) => (float[N,3] y) { y = ReduceLogSumExp<noop_with_empty_axes = 1>(x) }",
     .opset = 18},
    {"ReduceSum",
     "(float[N,2,3] x) => "
     "(float[2] y) { axes = Constant<value_ints = [0, -1]>() y = ReduceSum<keepdims = 0>(x, axes) }"},
    {"ReduceSum", "(float[N,2,3] x) => (float[N,1,3] y) <int64[1] axes = {1}> { y = ReduceSum(x, axes) }"},
    {"ReduceSum", "(float[N,3] x) => (float[1,1] y) { y = ReduceSum(x) }"},
    {"ReduceSum", "(float[N,3] x) => (float[N,3] y) { y = ReduceSum<noop_with_empty_axes = 1>(x) }"},
    {"ReduceMean", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceMean<axes = [1], keepdims = 0>(x) }"},
    {"ReduceMean", "(float[N,2,3] x) => (float[1,2,3] y) { y = ReduceMean<axes = [0]>(x) }"},
    {.name = "ReduceMean",
     .graph =
         "(float[N,2,3] x) => "
         "(float[N] y) { axes = Constant<value_ints = [-1, 1]>() y = ReduceMean<keepdims = 0>(x, axes) }",
     .opset = 18},
    {"ReduceMax", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceMax<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceMax",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceMax(x, axes) }",
     .opset = 18},
    {"ReduceMax", "(float[N,3] x) => (float y) { y = ReduceMax<keepdims = 0>(x) }"},
    {"ReduceMin", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceMin<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceMin",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceMin(x, axes) }",
     .opset = 18},
    {"ReduceMin", "(float[N,3] x) => (float y) { y = ReduceMin<keepdims = 0>(x) }"},
    {"ReduceProd", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceProd<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceProd",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceProd(x, axes) }",
     .opset = 18},
    {"ReduceProd", "(float[N,3] x) => (float y) { y = ReduceProd<keepdims = 0>(x) }"},
    {"ReduceSumSquare",
     "(float[N,2,3] x) => (float[N,3] y) { y = ReduceSumSquare<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceSumSquare",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceSumSquare(x, axes) }",
     .opset = 18},
    {"ReduceSumSquare", "(float[N,3] x) => (float y) { y = ReduceSumSquare<keepdims = 0>(x) }"},
    {"ReduceL1", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceL1<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceL1",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceL1(x, axes) }",
     .opset = 18},
    {"ReduceL1", "(float[N,3] x) => (float y) { y = ReduceL1<keepdims = 0>(x) }"},
    {"ReduceL2", "(float[N,2,3] x) => (float[N,3] y) { y = ReduceL2<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceL2",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceL2(x, axes) }",
     .opset = 18},
    {"ReduceL2", "(float[N,3] x) => (float y) { y = ReduceL2<keepdims = 0>(x) }"},
    {.name = "ReduceLogSum",
     .graph = "(float[N,2,3] x) => (float[N,3] y) { y = ReduceLogSum<axes = [1], keepdims = 0>(x) }",
     .low = 0.3},
    {.name = "ReduceLogSum",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceLogSum(x, axes) }",
     .opset = 18,
     .low = 0.3},
    {.name = "ReduceLogSum",
     .graph = "(float[N,3] x) => (float y) { y = ReduceLogSum<keepdims = 0>(x) }",
     .low = 0.3},
    {"ReduceLogSumExp",
     "(float[N,2,3] x) => (float[N,3] y) { y = ReduceLogSumExp<axes = [1], keepdims = 0>(x) }"},
    {.name = "ReduceLogSumExp",
     .graph = "(float[N,2,3] x) => "
              "(float[N,1,1] y) { axes = Constant<value_ints = [-2, 2]>() y = ReduceLogSumExp(x, axes) }",
     .opset = 18},
    {"ReduceLogSumExp", "(float[N,3] x) => (float y) { y = ReduceLogSumExp<keepdims = 0>(x) }"},
    {"ReduceProd",
     "(float[N,4] x) => (float[N] y) { m = Constant<value = float[4] {1.0, 0.0, 1.0, 1.0}>() z = "
     "Mul(x, m) y = ReduceProd<axes = [1], keepdims = 0>(z) }"},
    {"ReduceProd",
     "(float[N,4] x) => (float[N] y) { m = Constant<value = float[4] {1.0, 0.0, 0.0, 1.0}>() z = "
     "Mul(x, m) y = ReduceProd<axes = [1], keepdims = 0>(z) }"},
};

}  // namespace

std::span<const GradientCase> ReductionCases() { return kCases; }

}  // namespace ort_ed
