#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"ScatterElements",
     "(float[N,4] x, float[N,2] u) => (float[N,4] y) { o = Constant<value_ints = [3, 1]>() s = "
     "Shape(u) i = Expand(o, s) y = ScatterElements<axis = 1>(x, i, u) }"},
    {"ScatterElements",
     "(float[N,4] x, int64[N,2] i, float[N,2] u) => "
     "(float[N,4] y) { y = ScatterElements<axis = 1, reduction = \"add\">(x, i, u) }"},
    {"ScatterElements",
     "(float[N,4] x, int64[N,3] i, float[N,3] u) => "
     "(float[N,4] y) { y = ScatterElements<axis = 1, reduction = \"mul\">(x, i, u) }"},
    {"ScatterElements",
     "(float[N,4] x) => (float[N,4] y) { i = Constant<value = int64[3,3] {3, 3, 1, 0, 0, 0, 2, 1, 2}>() u = "
     "Constant<value = float[3,3] {0.0, 2.0, 0.5, 0.0, 0.0, 3.0, -1.0, 0.7, 0.0}>() "
     "y = ScatterElements<axis = 1, reduction = \"mul\">(x, i, u) }"},
    {"ScatterElements",
     "(float[N,4] x, float[3,3] u) => (float[N,4] y) { i = Constant<value = int64[3,3] {3, 3, 1, 0, 0, 0, 2, "
     "1, "
     "2}>() z = Constant<value = float[3,3] {0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0}>() v = Mul(u, z) "
     "y = ScatterElements<axis = 1, reduction = \"mul\">(x, i, v) }"},
    {"ScatterElements",
     "(float[N,4] x, int64[N,3] i, float[N,3] u) => "
     "(float[N,4] y) { y = ScatterElements<axis = 1, reduction = \"max\">(x, i, u) }",
     18},
    {"ScatterElements",
     "(float[N,4] x, int64[N,3] i, float[N,3] u) => "
     "(float[N,4] y) { y = ScatterElements<axis = 1, reduction = \"min\">(x, i, u) }",
     18},
    {"ScatterND",
     "(float[N,4] x, float[2,4] u) => (float[N,4] y) { i = Constant<value = int64[2,1] {2, 0}>() "
     "y = ScatterND(x, i, u) }"},
    {"ScatterND",
     "(float[3,4] x, float[3] u) => (float[3,4] y) { i = Constant<value = int64[3,2] {2, 0, 0, 3, 1, 1}>() "
     "y = ScatterND(x, i, u) }"},
    {"ScatterND",
     "(float[N,4] x, int64[5,1] i, float[5,4] u) => "
     "(float[N,4] y) { y = ScatterND<reduction = \"add\">(x, i, u) }"},
    {"ScatterND",
     "(float[3,4] x, int64[N,2] i, float[N] u) => "
     "(float[3,4] y) { y = ScatterND<reduction = \"mul\">(x, i, u) }"},
    {"ScatterND",
     "(float[3,4] x, float[4] v) => (float[3,4] y) { i = Constant<value = int64[4,2] {2, 0, 2, 0, 1, 1, 1, "
     "1}>() z = Constant<value = float[4] {0.0, 1.0, 0.0, 0.0}>() u = Mul(v, z) "
     "y = ScatterND<reduction = \"mul\">(x, i, u) }"},
    {"ScatterND",
     "(float[3,4] x, int64[5,1] i, float[5,4] u) => "
     "(float[3,4] y) { y = ScatterND<reduction = \"max\">(x, i, u) }",
     18},
    {"ScatterND",
     "(float[3,4] x, int64[N,2] i, float[N] u) => "
     "(float[3,4] y) { y = ScatterND<reduction = \"min\">(x, i, u) }",
     18},
};

}  // namespace

std::span<const GradientCase> ScatterCases() { return kCases; }

}  // namespace ort_ed
