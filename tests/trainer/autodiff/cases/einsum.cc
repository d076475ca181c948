#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Einsum",
     "(float[N,3] a, float[3,4] b) => "
     "(float[N,4] y) { y = Einsum<equation = \"ij,jk->ik\">(a, b) }"},
    {"Einsum", "(float[N,3] a, float[3,4] b) => (float[N,4] y) { y = Einsum<equation = \"ij,jk\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3] a, float[N,4,3] b) => "
     "(float[N,2,4] y) { y = Einsum<equation = \"bij,bkj->bik\">(a, b) }"},
    {"Einsum",
     "(float[N,3] a, float[3,3] b, float[N,3] c) => "
     "(float[N] y) { y = Einsum<equation = \"bi,ij,bj->b\">(a, b, c) }"},
    {"Einsum", "(float[N,3] a) => (float[3] y) { y = Einsum<equation = \"ij->j\">(a) }"},
    {"Einsum", "(float[N,3,3] a) => (float[N,3] y) { y = Einsum<equation = \"bii->bi\">(a) }"},
    {"Einsum", "(float[3,3] a, float[N,3] b) => (float[N] y) { y = Einsum<equation = \"ii,bi->b\">(a, b) }"},
    {"Einsum", "(float[N,4,4] a) => (float[N] y) { y = Einsum<equation = \"bii->b\">(a) }"},
    {"Einsum",
     "(float[N,2,3,4] a, float[N,2,5,4] b) => "
     "(float[N,2,3,5] y) { y = Einsum<equation = \"bhid,bhjd->bhij\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3] a, float[N,3,4] b) => "
     "(float[N,2,4] y) { y = Einsum<equation = \"...ij,...jk->...ik\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3,4] a, float[4,2] b) => "
     "(float[N,2,3,2] y) { y = Einsum<equation = \"...ij,jk->...ik\">(a, b) }"},
    {"Einsum",
     "(float[N,3] a, float[N,2] b) => "
     "(float[3,2] y) { y = Einsum<equation = \"ij,ik->jk\">(a, b) }"},
    {"Einsum", "(float[N] a, float[3] b) => (float[N,3] y) { y = Einsum<equation = \"i,j->ij\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3] a, float[3,4] b) => "
     "(float[N,4] y) { y = Einsum<equation = \"ijk,kl->il\">(a, b) }"},
    {"Einsum", "(float[N,3] a, float[2,3] b) => (float[N] y) { y = Einsum<equation = \"ij,kj->i\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3] a, float[1,2,3] b) => "
     "(float[N,2] y) { y = Einsum<equation = \"...i,...i->...\">(a, b) }"},
    {"Einsum",
     "(float[N,2,3] a, float[1,2,4] b) => "
     "(float[N,2] y) { y = Einsum<equation = \"...i,...j->...\">(a, b) }"},
    {"Einsum", "(float[N,3] a, float[3] b) => (float[N] y) { y = Einsum<equation = \"b i, i -> b\">(a, b) }"},
    {"Einsum", "(float[N,3] a, float[N,3] b) => (float y) { y = Einsum<equation = \"ij,ij->\">(a, b) }"},
    {.name = "Einsum",
     .graph = "(float[3,3] a, float[N,3] b) => (float[N] y) { y = Einsum<equation = \"ii,bi->b\">(a, b) }",
     .constant = "a"},
};

}  // namespace

std::span<const GradientCase> EinsumCases() { return kCases; }

}  // namespace ort_ed
