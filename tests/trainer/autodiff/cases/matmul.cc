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
};

}  // namespace

std::span<const GradientCase> MatmulCases() { return kCases; }

}  // namespace ort_ed
