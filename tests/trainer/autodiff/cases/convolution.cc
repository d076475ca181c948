#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Conv", "(float[N,2,5] x, float[3,2,3] w) => (float[N,3,3] y) { y = Conv(x, w) }"},
    {"Conv",
     "(float[N,2,7] x, float[3,2,3] w, float[3] b) => "
     "(float[N,3,2] y) { y = Conv<strides = [2], pads = [1, 0], dilations = [2]>(x, w, b) }"},
    {"Conv",
     "(float[N,2,5,5] x, float[3,2,3,3] w, float[3] b) => "
     "(float[N,3,5,5] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w, b) }"},
    {"Conv", "(float[N,1,4,4] x, float[2,1,1,1] w) => (float[N,2,4,4] y) { y = Conv(x, w) }"},
    {"Conv",
     "(float[N,8,4,3] x, float[2,8,3,3] w) => "
     "(float[N,2,4,3] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w) }"},
    {"Conv",
     "(float[N,9,5,6] x, float[4,9,3,3] w, float[4] b) => "
     "(float[N,4,3,3] y) { y = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w, b) }"},
    {"Conv",
     "(float[N,2,6,5] x, float[3,2,3,2] w) => "
     "(float[N,3,3,2] y) { y = Conv<strides = [2, 3], pads = [0, 1, 2, 0]>(x, w) }"},
    {"Conv",
     "(float[N,2,6,6] x, float[3,2,1,1] w) => "
     "(float[N,3,3,3] y) { y = Conv<strides = [2, 2]>(x, w) }"},
    {"Conv",
     "(float[N,4,5,5] x, float[6,2,3,3] w, float[6] b) => "
     "(float[N,6,5,5] y) { y = Conv<group = 2, pads = [1, 1, 1, 1]>(x, w, b) }"},
    {"Conv",
     "(float[N,4,6,5] x, float[4,1,3,3] w) => "
     "(float[N,4,2,1] y) { y = Conv<group = 4, strides = [2, 1], dilations = [1, 2]>(x, w) }"},
    {"Conv",
     "(float[N,2,5,4] x, float[3,2,2,3] w) => "
     "(float[N,3,3,4] y) { y = Conv<auto_pad = \"SAME_UPPER\", strides = [2, 1]>(x, w) }"},
    {"Conv",
     "(float[N,2,5,4] x, float[3,2,2,3] w) => "
     "(float[N,3,3,4] y) { y = Conv<auto_pad = \"SAME_LOWER\", strides = [2, 1]>(x, w) }"},
    {"Conv",
     "(float[N,2,5,4] x, float[3,2,2,3] w) => "
     "(float[N,3,4,2] y) { y = Conv<auto_pad = \"VALID\">(x, w) }"},
    {"Conv",
     "(float[N,2,3,3] x, float[2,2,1,1] w) => "
     "(float[N,2,5,5] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w) }"},
    {"Conv",
     "(float[N,2,3,3] x, float[2,2,2,2] w) => "
     "(float[N,2,6,6] y) { y = Conv<pads = [2, 2, 2, 2]>(x, w) }"},
    {"ConvTranspose",
     "(float[N,3,4] x, float[3,2,3] w) => "
     "(float[N,2,9] y) { y = ConvTranspose<strides = [2]>(x, w) }"},
    {"ConvTranspose",
     "(float[N,3,3,3] x, float[3,2,3,3] w, float[2] b) => (float[N,2,6,6] y) { y = "
     "ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1], output_padding = [1, 1]>(x, w, b) }"},
    {"ConvTranspose",
     "(float[N,4,3,3] x, float[4,2,2,3] w) => "
     "(float[N,4,5,5] y) { y = ConvTranspose<group = 2, dilations = [2, 1]>(x, w) }"},
    {"ConvTranspose",
     "(float[N,2,3,4] x, float[2,3,3,3] w) => "
     "(float[N,3,6,8] y) { y = ConvTranspose<strides = [2, 2], auto_pad = \"SAME_UPPER\">(x, w) }"},
    {"ConvTranspose",
     "(float[N,2,3,4] x, float[2,3,3,3] w) => "
     "(float[N,3,6,8] y) { y = ConvTranspose<strides = [2, 2], auto_pad = \"SAME_LOWER\">(x, w) }"},
    {"ConvTranspose",
     "(float[N,2,3,4] x, float[2,3,3,3] w) => "
     "(float[N,3,8,8] y) { y = ConvTranspose<strides = [3, 2], output_shape = [8, 8]>(x, w) }"},
    {"Conv",
     "(float[N,2,3,4,4] x, float[3,2,2,2,3] w, float[3] b) => (float[N,3,2,3,4] y) { y = Conv<pads = [0, 0, "
     "1, "
     "0, 0, 1]>(x, w, b) }"},
    {"Conv",
     "(float[N,2,4,4,3] x, float[2,1,2,2,2] w) => "
     "(float[N,2,2,2,2] y) { y = Conv<group = 2, strides = [2, 2, 1]>(x, w) }"},
    {"ConvTranspose",
     "(float[N,2,2,2,3] x, float[2,3,2,2,2] w) => "
     "(float[N,3,4,4,4] y) { y = ConvTranspose<strides = [2, 2, 1]>(x, w) }"},
    {"ConvTranspose",
     "(float[N,4,2,3,2] x, float[4,1,2,2,3] w, float[2] b) => (float[N,2,3,6,5] y) { y = ConvTranspose<"
     "group = 2, strides = [1, 2, 2], dilations = [1, 1, 1]>(x, w, b) }"},
    {"Conv",
     "(float[N,3,4,4,4] x, float[2,3,2,2,2] w) => (float[N,2,2,3,3] y) "
     "{ y = Conv<dilations = [2, 1, 1]>(x, w) }"},
};

}  // namespace

std::span<const GradientCase> ConvolutionCases() { return kCases; }

}  // namespace ort_ed
