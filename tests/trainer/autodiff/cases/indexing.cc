#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Gather",
     "(float[N,5] x) => "
     "(float[N,3] y) { i = Constant<value_ints = [4, 0, -2]>() y = Gather<axis = 1>(x, i) }"},
    {"Gather",
     "(float[N,5] x) => "
     "(float[N,4] y) { i = Constant<value_ints = [1, 1, 0, 1]>() y = Gather<axis = -1>(x, i) }"},
    {"Gather",
     "(float[N,2,3] x) => "
     "(float[N,3] y) { i = Constant<value_int = 1>() y = Gather<axis = 1>(x, i) }"},
    {"Gather", "(float[4,3] w, int64[N,2] i) => (float[N,2,3] y) { y = Gather(w, i) }"},
    {"Gather", "(float[2,4,3] w, int64[N,2] i) => (float[2,N,2,3] y) { y = Gather<axis = 1>(w, i) }"},
    {"GatherElements",
     "(float[N,4] x, int64[N,3] i) => (float[N,3] y) { y = GatherElements<axis = 1>(x, i) }"},
    {"GatherElements", "(float[3,4] x, int64[2,4] i) => (float[2,4] y) { y = GatherElements(x, i) }"},
    {"GatherND", "(float[4,3] x, int64[N,2,1] i) => (float[N,2,3] y) { y = GatherND(x, i) }"},
    {"GatherND", "(float[3,3,2] x, int64[N,2] i) => (float[N,2] y) { y = GatherND(x, i) }"},
    {"GatherND",
     "(float[N,3,2] x, int64[N,2,1] i) => (float[N,2,2] y) { y = GatherND<batch_dims = 1>(x, i) }"},
    {"GatherND", "(float[N,2,3] x, int64[N,2,1] i) => (float[N,2] y) { y = GatherND<batch_dims = 2>(x, i) }"},
    {"TopK", "(float[N,5] x) => (float[N,2] y) { k = Constant<value_ints = [2]>() y, i = TopK(x, k) }"},
    {"TopK",
     "(float[N,4,2] x) => (float[N,3,2] y) { k = Constant<value_ints = [3]>() y, i = TopK<axis = 1, largest "
     "= "
     "0>(x, k) }"},
    {"OneHot",
     "(int64[N,2] i, float[2] v) => (float[N,2,3] y) { d = Constant<value_int = 3>() y = OneHot(i, d, v) }"},
    {"OneHot",
     "(int64[N] i, float[2] v) => "
     "(float[4,N] y) { d = Constant<value_int = 4>() y = OneHot<axis = 0>(i, d, v) }"},
    {"Compress",
     "(float[N,4] x) => (float[N,2] y) { z = Constant<value = float[4] {1.0, 0.0, 0.0, 1.0}>() c = Cast<to = "
     "9>(z) y = Compress<axis = 1>(x, c) }"},
    {"Compress",
     "(float[N,4] x) => (float[2] y) { z = Constant<value = float[6] {1.0, 0.0, 0.0, 0.0, 0.0, 1.0}>() c = "
     "Cast<to = 9>(z) y = Compress(x, c) }"},
    {"Slice",
     "(float[N,5] x) => (float[N,3] y) { s = Constant<value_ints = [1]>() e = Constant<value_ints "
     "= [4]>() a = Constant<value_ints = [1]>() y = Slice(x, s, e, a) }"},
    {"Slice",
     "(float[N,5] x) => (float[N,2] y) { s = Constant<value_ints = [-3]>() e = "
     "Constant<value_ints = [-1]>() a = Constant<value_ints = [-1]>() y = Slice(x, s, e, a) }"},
    {"Slice",
     "(float[N,5] x) => (float[N,3] y) { s = Constant<value_ints = [0]>() e = Constant<value_ints "
     "= [100]>() a = Constant<value_ints = [1]>() d = Constant<value_ints = [2]>() y = Slice(x, "
     "s, e, a, d) }"},
    {"Slice",
     "(float[N,5] x) => (float[N,3] y) { s = Constant<value_ints = [-1]>() e = "
     "Constant<value_ints = [-100]>() a = Constant<value_ints = [1]>() d = Constant<value_ints = "
     "[-2]>() y = Slice(x, s, e, a, d) }"},
    {"Slice",
     "(float[2,5] x) => (float[1,4] y) { s = Constant<value_ints = [1, 1]>() e = "
     "Constant<value_ints = [2, 5]>() y = Slice(x, s, e) }"},
    {"Slice",
     "(float[N,4,5] x) => (float[N,2,3] y) { s = Constant<value_ints = [3, 1]>() e = "
     "Constant<value_ints = [0, 4]>() a = Constant<value_ints = [1, 2]>() d = Constant<value_ints "
     "= [-2, 1]>() y = Slice(x, s, e, a, d) }"},
    {"Slice",
     "(float[N,3] x) => (float[M,3] y) { s = Constant<value_ints = [1]>() e = Constant<value_ints "
     "= [3]>() a = Constant<value_ints = [0]>() y = Slice(x, s, e, a) }"},
    {"Slice",
     "(float[N,3] x) => (float[M,3] y) { s = Constant<value_ints = [-1]>() e = "
     "Constant<value_ints = [-100]>() a = Constant<value_ints = [0]>() d = Constant<value_ints = "
     "[-1]>() y = Slice(x, s, e, a, d) }"},
    {"Slice",
     "(float[N,5] x, int64[1] k) => (float[N,M] y) { two = Constant<value_ints = [2]>() one = "
     "Constant<value_ints = [1]>() e = Add(k, two) y = Slice(x, k, e, one) }"},
    {"Pad", "(float[N,3] x) => (float[N,6] y) { p = Constant<value_ints = [0, 1, 0, 2]>() y = Pad(x, p) }"},
    {"Pad",
     "(float[N,3] x, float v) => "
     "(float[M,4] y) { p = Constant<value_ints = [1, 0, 1, 1]>() y = Pad(x, p, v) }"},
    {"Pad",
     "(float[N,5] x) => "
     "(float[N,4] y) { p = Constant<value_ints = [0, -2, 0, 1]>() y = Pad(x, p) }"},
    {"Pad",
     "(float[N,4] x) => "
     "(float[N,8] y) { p = Constant<value_ints = [0, 2, 0, 2]>() y = Pad<mode = \"reflect\">(x, p) }"},
    {"Pad",
     "(float[N,3,2] x) => "
     "(float[N,6,3] y) { p = Constant<value_ints = [0, 1, 0, 0, 2, 1]>() y = Pad<mode = \"edge\">(x, p) }"},
    {.name = "Pad",
     .graph = "(float[N,3,2] x) => (float[N,3,4] y) { p = Constant<value_ints = [1, 1]>() a = "
              "Constant<value_ints = [2]>() y = Pad(x, p, , a) }",
     .opset = 18},
    {.name = "Pad",
     .graph = "(float[N,4] x) => (float[N,7] y) { p = Constant<value_ints = [1, 2]>() a = "
              "Constant<value_ints = [1]>() y = Pad<mode = \"wrap\">(x, p, , a) }",
     .opset = 19},
    {"Trilu", "(float[N,3,3] x) => (float[N,3,3] y) { y = Trilu(x) }"},
    {"Trilu",
     "(float[N,3,4] x) => "
     "(float[N,3,4] y) { k = Constant<value_int = -1>() y = Trilu<upper = 0>(x, k) }"},
    {"CumSum", "(float[N,4] x) => (float[N,4] y) { a = Constant<value_int = 1>() y = CumSum(x, a) }"},
    {"CumSum",
     "(float[N,4] x) => "
     "(float[N,4] y) { a = Constant<value_int = 1>() y = CumSum<exclusive = 1>(x, a) }"},
    {"CumSum",
     "(float[N,4] x) => "
     "(float[N,4] y) { a = Constant<value_int = 1>() y = CumSum<reverse = 1>(x, a) }"},
    {"CumSum",
     "(float[N,4] x) => "
     "(float[N,4] y) { a = Constant<value_int = 1>() y = CumSum<exclusive = 1, reverse = 1>(x, a) }"},
};

}  // namespace

std::span<const GradientCase> IndexingCases() { return kCases; }

}  // namespace ort_ed
