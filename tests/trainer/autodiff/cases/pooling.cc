#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"AveragePool",
     "(float[N,2,6,6] x) => "
     "(float[N,2,3,3] y) { y = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x) }"},
    {"AveragePool",
     "(float[N,2,5,4] x) => (float[N,2,3,2] y) { y = AveragePool<kernel_shape = [3, 3], strides = "
     "[2, 2], pads = [1, 1, 1, 0]>(x) }"},
    {"AveragePool",
     "(float[N,2,5,5] x) => (float[N,2,3,3] y) { y = AveragePool<kernel_shape = [3, 3], strides = "
     "[2, 2], pads = [1, 1, 1, 1], count_include_pad = 1>(x) }"},
    {"AveragePool",
     "(float[N,2,6] x) => "
     "(float[N,2,3] y) { y = AveragePool<kernel_shape = [3], strides = [2], ceil_mode = 1>(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,2,6] x) => (float[N,2,4] y) { y = AveragePool<kernel_shape = [3], strides = [2], "
              "pads = [1, 1], ceil_mode = 1, count_include_pad = 1>(x) }",
     .opset = 19},
    {"AveragePool",
     "(float[N,2,6] x) => "
     "(float[N,2,6] y) { y = AveragePool<kernel_shape = [3], auto_pad = \"SAME_UPPER\">(x) }"},
    {.name = "AveragePool",
     .graph = "(float[N,1,7] x) => "
              "(float[N,1,3] y) { y = AveragePool<kernel_shape = [3], dilations = [2]>(x) }",
     .opset = 19},
    {"MaxPool",
     "(float[N,2,6,6] x) => "
     "(float[N,2,3,3] y) { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }"},
    {"MaxPool",
     "(float[N,2,5,5] x) => "
     "(float[N,2,5,5] y) { y = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x) }"},
    {"MaxPool",
     "(float[N,2,7] x) => "
     "(float[N,2,3] y) { y = MaxPool<kernel_shape = [3], strides = [3], ceil_mode = 1>(x) }"},
    {"MaxPool",
     "(float[N,2,7] x) => (float[N,2,5] y) { y = MaxPool<kernel_shape = [2], dilations = [2]>(x) }"},
    {"MaxPool",
     "(float[N,2,7] x) => "
     "(float[N,2,4] y) { y = MaxPool<kernel_shape = [3], strides = [2], auto_pad = \"SAME_LOWER\">(x) }"},
    {.name = "MaxUnpool",
     .graph =
         "(float[N,2,4,4] x, float[2,1,1] w) => (float[N,2,4,4] y) { p, i = MaxPool<kernel_shape = [2, 2], "
         "strides = [2, 2]>(x) q = Mul(p, w) y = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(q, i) }",
     .in_float = true},
    {"MaxPool",
     "(float[N,2,5,4,5] x) => (float[N,2,3,2,3] y) { y = MaxPool<kernel_shape = [2, 2, 2], strides = [2, 2, "
     "2], "
     "ceil_mode = 1>(x) }"},
    {"AveragePool",
     "(float[N,2,5,4,5] x) => (float[N,2,3,2,3] y) { y = AveragePool<kernel_shape = [2, 2, 2], "
     "strides = [2, 2, 2], ceil_mode = 1>(x) }"},
    {"GlobalAveragePool", "(float[N,2,3,4] x) => (float[N,2,1,1] y) { y = GlobalAveragePool(x) }"},
    {"GlobalAveragePool", "(float[N,2,5] x) => (float[N,2,1] y) { y = GlobalAveragePool(x) }"},
    {"GlobalMaxPool", "(float[N,2,3,4] x) => (float[N,2,1,1] y) { y = GlobalMaxPool(x) }"},
    {"GlobalAveragePool",
     "(float[N,2,4] x, int64[1] k) => (float[N,2,1] y) { two = Constant<value_ints = [2]>() e = Add(k, two) "
     "z = Constant<value_ints = [0]>() s = Slice(x, z, e, two) y = GlobalAveragePool(s) }"},
    {"LpPool",
     "(float[N,2,5,5] x) => "
     "(float[N,2,3,3] y) { y = LpPool<kernel_shape = [2, 2], strides = [2, 2], pads = [1, 0, 0, 1]>(x) }"},
    {"LpPool", "(float[N,2,5] x) => (float[N,2,4] y) { y = LpPool<kernel_shape = [2], p = 1>(x) }"},
    {"LpPool", "(float[N,2,5] x) => (float[N,2,4] y) { y = LpPool<kernel_shape = [2], p = 3>(x) }"},
    {.name = "LpPool",
     .graph =
         "(float[N,2,7] x) => (float[N,2,3] y) { y = LpPool<kernel_shape = [2], dilations = [2], strides = "
         "[2]>(x) }",
     .opset = 18},
    {"GlobalLpPool", "(float[N,2,3,4] x) => (float[N,2,1,1] y) { y = GlobalLpPool(x) }"},
    {"GlobalLpPool", "(float[N,2,3] x) => (float[N,2,1] y) { y = GlobalLpPool<p = 1>(x) }"},
    {"GlobalLpPool", "(float[N,2,3] x) => (float[N,2,1] y) { y = GlobalLpPool<p = 3>(x) }"},
    {"AveragePool",
     "(float[N,2,4,4,5] x) => (float[N,2,2,2,2] y) { y = AveragePool<kernel_shape = [2, 2, 3], strides = [2, "
     "2, "
     "2]>(x) }"},
    {"MaxPool",
     "(float[N,2,4,4,5] x) => "
     "(float[N,2,2,2,2] y) { y = MaxPool<kernel_shape = [2, 2, 3], strides = [2, 2, 2]>(x) }"},
};

}  // namespace

std::span<const GradientCase> PoolingCases() { return kCases; }

}  // namespace ort_ed
