#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"MatMul", "(float[N,3] a, float[3,4] b) => (float[N,4] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[2,N,3] a, float[3,4] b) => (float[2,N,4] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[N,2,3] a, float[N,3,4] b) => (float[N,2,4] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[N,1,2,3] a, float[5,3,4] b) => (float[N,5,2,4] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[2,3] a, float[N,3,4] b) => (float[N,2,4] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[N,3] a, float[3] b) => (float[N] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[3] a, float[3,2] b) => (float[2] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[3] a, float[N,3,2] b) => (float[N,2] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[N,2,3] a, float[3] b) => (float[N,2] y) { y = MatMul(a, b) }"},
    {"MatMul", "(float[3] a, float[3] b) => (float y) { y = MatMul(a, b) }"},
    {"Gemm", "(float[N,3] a, float[3,4] b, float[4] c) => (float[N,4] y) { y = Gemm(a, b, c) }"},
    {"Gemm",
     "(float[N,3] a, float[4,3] b, float[1,4] c) => "
     "(float[N,4] y) { y = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(a, b, c) }"},
    {"Gemm",
     "(float[3,N] a, float[3,4] b, float[N,1] c) => "
     "(float[N,4] y) { y = Gemm<transA = 1>(a, b, c) }"},
    {"Gemm",
     "(float[3,N] a, float[4,3] b) => "
     "(float[N,4] y) { y = Gemm<transA = 1, transB = 1, alpha = 1.5>(a, b) }"},
    {"Gemm", "(float[N,3] a, float[3,4] b, float c) => (float[N,4] y) { y = Gemm<beta = 0.5>(a, b, c) }"},
    {"Det", "(float[N,3,3] x) => (float[N] y) { y = Det(x) }"},
    {"Det", "(float[N,2,4,4] x) => (float[N,2] y) { y = Det(x) }"},
    {"Det", "(float[2,2] x) => (float y) { y = Det(x) }"},
    {"Det", "(float[N,1,1] x) => (float[N] y) { y = Det(x) }"},
    {"Det",
     "(float[N,1,3] x) => (float[N] y) { z = Transpose<perm = [0, 2, 1]>(x) s = MatMul(z, x) y = Det(s) }"},
    {"Resize",
     "(float[N,2,3,2] x) => (float[N,2,6,4] y) { s = Constant<value_floats = [1.0, 1.0, 2.0, 2.0]>() "
     "y = Resize<mode = \"nearest\">(x, , s) }"},
    {"Resize",
     "(float[N,2,5,4] x) => (float[N,2,3,2] y) { s = Constant<value_floats = [1.0, 1.0, 0.6, 0.5]>() "
     "y = Resize<mode = \"nearest\", nearest_mode = \"floor\", coordinate_transformation_mode = "
     "\"asymmetric\">(x, , s) }"},
    {"Resize",
     "(float[N,2,3,4] x) => (float[N,2,5,7] y) { s = Constant<value_floats = [1.0, 1.0, 1.7, 1.9]>() "
     "y = Resize<mode = \"linear\">(x, , s) }"},
    {"Resize",
     "(float[2,2,3,4] x) => (float[2,2,5,2] y) { s = Constant<value_ints = [2, 2, 5, 2]>() "
     "y = Resize<mode = \"linear\", coordinate_transformation_mode = \"align_corners\">(x, , , s) }"},
    {"Resize",
     "(float[N,1,4,4] x) => (float[N,1,6,6] y) <float[4] s = {1.0, 1.0, 1.5, 1.5}> "
     "{ y = Resize<mode = \"cubic\", cubic_coeff_a = -0.5, exclude_outside = 1>(x, , s) }"},
    {.name = "Resize",
     .graph = "(float[N,1,6,6] x) => (float[N,1,3,4] y) { s = Constant<value_ints = [3, 4]>() "
              "y = Resize<mode = \"linear\", antialias = 1, axes = [2, 3]>(x, , , s) }",
     .opset = 18},
};

}  // namespace

std::span<const GradientCase> MatmulCases() { return kCases; }

}  // namespace ort_ed
