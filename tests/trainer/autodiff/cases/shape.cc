#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Transpose", "(float[N,2,3] x) => (float[3,2,N] y) { y = Transpose(x) }"},
    {"Transpose", "(float[N,2,3] x) => (float[2,3,N] y) { y = Transpose<perm = [1, 2, 0]>(x) }"},
    {"Reshape",
     "(float[N,2,3] x) => (float[N,6] y) { s = Constant<value_ints = [0, 6]>() y = Reshape(x, s) }"},
    {"Reshape", "(float[N,M] x) => (float[M,N] y) { t = Transpose(x) s = Shape(t) y = Reshape(x, s) }"},
    {"Squeeze", "(float[N,1,3] x) => (float[N,3] y) { a = Constant<value_ints = [1]>() y = Squeeze(x, a) }"},
    {"Unsqueeze",
     "(float[N,3] x) => (float[N,1,3] y) { a = Constant<value_ints = [1]>() y = Unsqueeze(x, a) }"},
    {"Flatten", "(float[N,2,3] x) => (float[N,6] y) { y = Flatten(x) }"},
    {"Identity", "(float[N,3] x) => (float[N,3] y) { y = Identity(x) }"},
    {"Cast",
     "(float[N,3] x) => "
     "(float[N,3] y) { d = Cast<to = 11>(x) e = Exp(d) s = Mul(e, e) y = Cast<to = 1>(s) }"},
    {"Squeeze",
     "(float[N,1,3,1] x) => "
     "(float[N,3] y) { a = Constant<value_ints = [1, -1]>() y = Squeeze(x, a) }"},
    {"Flatten", "(float[2,N,3] x) => (float[M,3] y) { y = Flatten<axis = 2>(x) }"},
    {"Dropout", "(float[N,3] x) => (float[N,3] y) { y = Dropout(x) }"},
    {"Dropout",
     "(float[N,3] x) => (float[N,3] y) { r = Constant<value_float = 0.5>() t = Constant<value = "
     "bool {0}>() y, mask = Dropout(x, r, t) }"},
    {"Dropout",
     "(float[N,3] x) => (float[N,3] y) <float r = {0.5}, bool t = {0}> { y, mask = Dropout(x, r, t) }"},
    {.name = "Dropout",
     .graph = "(float[N,3] x, float r) => (float[N,3] y) { t = Constant<value = bool {0}>() y = Dropout(x, "
              "r, t) }",
     .low = 0.1,
     .high = 0.9,
     .zero = "r"},
    {"CastLike",
     "(float[N,3] x) => (float[N,3] y) { o = Constant<value = double[1] {1.0}>() d = CastLike(x, "
     "o) e = Exp(d) y = Cast<to = 1>(e) }"},
    {"Expand",
     "(float[N,1] x) => "
     "(float[2,N,3] y) { s = Constant<value_ints = [2, 1, 3]>() y = Expand(x, s) }"},
    {.name = "Expand",
     .graph = "(float[3] x, float[N,3] like) => (float[N,3] y) { s = Shape(like) y = Expand(x, s) }",
     .zero = "like"},
    {.name = "Expand",
     .graph = "(float[M,3] x, float[N,3] like) => (float[K,3] y) { s = Shape(like) y = Expand(x, s) }",
     .zero = "like"},
    {"Tile", "(float[N,2] x) => (float[M,6] y) { r = Constant<value_ints = [2, 3]>() y = Tile(x, r) }"},
    {"Concat",
     "(float[N,2] a, float[N,3] b, float[N,1] c) => "
     "(float[N,6] y) { y = Concat<axis = 1>(a, b, c) }"},
    {.name = "Concat",
     .graph = "(float[N,2] a, float[N,3] b) => (float[N,5] y) { y = Concat<axis = -1>(a, b) }",
     .constant = "a"},
    {"Concat", "(float[N,2] a, float[M,2] b) => (float[K,2] y) { y = Concat<axis = 0>(a, b) }"},
    {"Concat", "(float[N,2] a) => (float[N,4] y) { y = Concat<axis = 1>(a, a) }"},
    {"Split",
     "(float[N,6] x) => "
     "(float[N,2] y) { a, b, c = Split<axis = 1>(x) d = Mul(a, c) y = Add(d, b) }"},
    {"Split",
     "(float[N,6] x) => "
     "(float[N,2] y) { s = Constant<value_ints = [2, 4]>() y, b = Split<axis = -1>(x, s) }"},
    {.name = "Split",
     .graph = "(float[N,5] x) => (float[N,1] y) { a, b, y = Split<axis = 1, num_outputs = 3>(x) }",
     .opset = 18},
    {"DepthToSpace", "(float[N,8,2,3] x) => (float[N,2,4,6] y) { y = DepthToSpace<blocksize = 2>(x) }"},
    {"DepthToSpace",
     "(float[N,8,2,3] x) => "
     "(float[N,2,4,6] y) { y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x) }"},
    {"SpaceToDepth", "(float[N,2,4,6] x) => (float[N,8,2,3] y) { y = SpaceToDepth<blocksize = 2>(x) }"},
    {"ReverseSequence",
     "(float[4,3,2] x) => "
     "(float[4,3,2] y) { n = Constant<value_ints = [4, 1, 3]>() y = ReverseSequence(x, n) }"},
    {"ReverseSequence",
     "(float[3,4] x) => (float[3,4] y) { n = Constant<value_ints = [2, 4, 3]>() y = "
     "ReverseSequence<batch_axis "
     "= 0, time_axis = 1>(x, n) }"},
};

}  // namespace

std::span<const GradientCase> ShapeCases() { return kCases; }

}  // namespace ort_ed
