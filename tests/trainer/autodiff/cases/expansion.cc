// What is expanded to other operators before it is differentiated (trainer/expand).
#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

constexpr GradientCase kCases[] = {
    {"Gelu", "(float[N,3] x) => (float[N,3] y) { y = com.microsoft.Gelu(x) }"},
    {"BiasGelu", "(float[N,3] x, float[3] b) => (float[N,3] y) { y = com.microsoft.BiasGelu(x, b) }"},
    {"FastGelu", "(float[N,3] x, float[3] b) => (float[N,3] y) { y = com.microsoft.FastGelu(x, b) }"},
    {"FastGelu", "(float[N,3] x) => (float[N,3] y) { y = com.microsoft.FastGelu(x) }"},
    {"QuickGelu", "(float[N,3] x) => (float[N,3] y) { y = com.microsoft.QuickGelu<alpha = 1.5>(x) }"},
    {"FusedMatMul",
     "(float[N,3,2] x, float[4,3] w) => "
     "(float[N,2,4] y) { y = com.microsoft.FusedMatMul<alpha = 0.5, transA = 1, transB = 1>(x, w) }"},
    {"FusedMatMul", "(float[N,3] x, float[3] w) => (float[N] y) { y = com.microsoft.FusedMatMul(x, w) }"},
    {"FusedGemm",
     "(float[N,3] x, float[2,3] w, float[2] b) => (float[N,2] y) "
     "{ y = com.microsoft.FusedGemm<transB = 1, activation = \"Tanh\">(x, w, b) }"},
    {"SkipLayerNormalization",
     "(float[N,2,4] x, float[N,2,4] s, float[4] g, float[4] b, float[4] c) => (float[N,2,4] y) "
     "{ y = com.microsoft.SkipLayerNormalization<epsilon = 0.001>(x, s, g, b, c) }"},
    {"SkipLayerNormalization",
     "(float[N,2,4] x, float[N,2,4] s, float[4] g) => (float[N,2,4] y) "
     "{ z, , , t = com.microsoft.SkipLayerNormalization<epsilon = 0.001>(x, s, g) y = Mul(z, t) }"},
    {"SkipSimplifiedLayerNormalization",
     "(float[N,2,4] x, float[N,2,4] s, float[4] g) => (float[N,2,4] y) "
     "{ y = com.microsoft.SkipSimplifiedLayerNormalization<epsilon = 0.001>(x, s, g) }"},
    {.name = "RMSNormalization",
     .graph = "(float[N,2,3] x, float[3] s) => (float[N,2,3] y) { y = RMSNormalization(x, s) }",
     .opset = 23},
    {.name = "RMSNormalization",
     .graph = "(float[N,2,3] x, float[2,3] s) => "
              "(float[N,2,3] y) { y = RMSNormalization<axis = 1, epsilon = 0.1>(x, s) }",
     .opset = 23},
    {.name = "RotaryEmbedding",
     .graph = "(float[N,2,3,4] x, float[N,3,2] c, float[N,3,2] s) => "
              "(float[N,2,3,4] y) { y = RotaryEmbedding(x, c, s) }",
     .opset = 23},
    {.name = "RotaryEmbedding",
     .graph = "(float[N,3,8] x, float[5,1] c, float[5,1] s, int64[N,3] p) => (float[N,3,8] y) "
              "{ y = RotaryEmbedding<num_heads = 2, interleaved = 1, rotary_embedding_dim = 2>(x, c, s, p) }",
     .opset = 23},
    {.name = "Attention",
     .graph = "(float[N,2,3,4] q, float[N,2,5,4] k, float[N,2,5,3] v, float[3,5] m) => "
              "(float[N,2,3,3] y) { y = Attention(q, k, v, m) }",
     .opset = 23},
    {.name = "Attention",
     .graph = "(float[N,4,6] q, float[N,4,6] k, float[N,4,6] v) => (float[N,4,6] y) "
              "{ y = Attention<q_num_heads = 2, kv_num_heads = 2, is_causal = 1, scale = 0.3>(q, k, v) }",
     .opset = 24},
    {.name = "Attention",
     .graph = "(float[N,4,3,2] q, float[N,2,5,2] k, float[N,2,5,3] v) => "
              "(float[N,4,3,3] y) { y = Attention<softcap = 0.7>(q, k, v) }",
     .opset = 23},
    {.name = "Attention",
     .graph =
         "(float[N,3,8] q, float[N,3,2] k, float[N,3,2] v, float[3,3] m) => "
         "(float[N,3,8] y) { y = Attention<q_num_heads = 4, kv_num_heads = 1, softcap = 0.7>(q, k, v, m) }",
     .opset = 24},
    {.name = "Attention",
     .graph = "(float[N,2,3,4] q, float[N,2,3,4] k, float[N,2,3,4] v, float[N,2,2,4] i, float[N,2,2,4] j) => "
              "(float[N,2,5,4] z) { y, a, b = Attention<is_causal = 1>(q, k, v, , i, j) s = Mul(a, b) "
              "m = ReduceSum<keepdims = 1>(y) z = Mul(s, m) }",
     .opset = 23},
    {"RNN",
     "(float[4,N,2] x, float[1,3,2] w, float[1,3,3] r, float[1,6] b) => "
     "(float[4,1,N,3] y) { y = RNN<hidden_size = 3>(x, w, r, b) }"},
    {"RNN",
     "(float[3,N,2] x, float[2,3,2] w, float[2,3,3] r) => (float[2,N,3] h) { y, h = RNN<hidden_size = 3, "
     "direction = \"bidirectional\", activations = [\"Tanh\", \"Sigmoid\"]>(x, w, r) }"},
    {"GRU",
     "(float[4,N,2] x, float[1,6,2] w, float[1,6,2] r, float[1,12] b) => "
     "(float[4,1,N,2] y) { y = GRU<hidden_size = 2, direction = \"reverse\">(x, w, r, b) }"},
    {"GRU",
     "(float[3,N,2] x, float[2,6,2] w, float[2,6,2] r, float[2,12] b, float[2,N,2] i) => "
     "(float[2,N,2] h) { y, h = GRU<hidden_size = 2, direction = \"bidirectional\", linear_before_reset = "
     "1>(x, w, r, b, , i) }"},
    {"LSTM",
     "(float[4,N,2] x, float[1,8,2] w, float[1,8,2] r, float[1,16] b) => "
     "(float[4,1,N,2] y) { y = LSTM<hidden_size = 2>(x, w, r, b) }"},
    {"LSTM",
     "(float[3,N,2] x, float[2,8,2] w, float[2,8,2] r, float[2,16] b, float[2,N,2] i, float[2,N,2] j, "
     "float[2,6] p) => (float[2,N,2] z) { y, h, c = LSTM<hidden_size = 2, direction = \"bidirectional\">(x, "
     "w, r, b, , i, j, p) z = Mul(h, c) }"},
    {"SoftmaxCrossEntropyLoss",
     "(float[N,3] x, int64[N] l) => (float[N] y) { k = Constant<value_int = 3>() m = Mod(l, k) "
     "y = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, m) }"},
    {"SoftmaxCrossEntropyLoss",
     "(float[N,3,2] x, int64[N,2] l, float[3] w) => (float y) { k = Constant<value_int = 3>() m = Mod(l, k) "
     "y = SoftmaxCrossEntropyLoss<ignore_index = 1>(x, m, w) }"},
    {"NegativeLogLikelihoodLoss",
     "(float[N,3] x, int64[N] l) => (float y) { k = Constant<value_int = 3>() m = Mod(l, k) "
     "y = NegativeLogLikelihoodLoss<reduction = \"sum\">(x, m) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"zeros\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"zeros\", align_corners = 1>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"border\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"border\", align_corners = 1>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"reflection\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bilinear\", "
     "padding_mode = \"reflection\", align_corners = 1>(x, g) }"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"zeros\", align_corners = 0>(x, g) }",
     .zero = "g"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"zeros\", align_corners = 1>(x, g) }",
     .zero = "g"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"border\", align_corners = 0>(x, g) }",
     .zero = "g"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"border\", align_corners = 1>(x, g) }",
     .zero = "g"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"reflection\", align_corners = 0>(x, g) }",
     .zero = "g"},
    {.name = "GridSample",
     .graph =
         "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"nearest\", "
         "padding_mode = \"reflection\", align_corners = 1>(x, g) }",
     .zero = "g"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"zeros\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"zeros\", align_corners = 1>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"border\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"border\", align_corners = 1>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"reflection\", align_corners = 0>(x, g) }"},
    {"GridSample",
     "(float[N,2,4,3] x, float[N,3,2,2] g) => (float[N,2,3,2] y) { y = GridSample<mode = \"bicubic\", "
     "padding_mode = \"reflection\", align_corners = 1>(x, g) }"},
    {.name = "GridSample",
     .graph = "(float[N,2,2,4,3] x, float[N,2,1,3,3] g) => "
              "(float[N,2,2,1,3] y) { y = GridSample<mode = \"linear\">(x, g) }",
     .opset = 20},
    {.name = "AffineGrid",
     .graph = "(float[N,2,3] t) => (float[N,3,2,2] y) { s = Constant<value_ints = [3, 1, 3, 2]>() "
              "y = AffineGrid<align_corners = 0>(t, s) }",
     .opset = 20},
    {.name = "AffineGrid",
     .graph = "(float[N,2,3] t) => (float[N,3,2,2] y) { s = Constant<value_ints = [3, 1, 3, 2]>() "
              "y = AffineGrid<align_corners = 1>(t, s) }",
     .opset = 20},
    {.name = "AffineGrid",
     .graph = "(float[N,3,4] t) => (float[N,2,3,2,3] y) { s = Constant<value_ints = [3, 1, 2, 3, 2]>() "
              "y = AffineGrid(t, s) }",
     .opset = 20},
    {"LRN",
     "(float[N,5,2,2] x) => (float[N,5,2,2] y) { y = LRN<size = 3, alpha = 0.9, beta = 0.6, bias = 1.5>(x) "
     "}"},
    {"LRN", "(float[N,3,2,2] x) => (float[N,3,2,2] y) { y = LRN<size = 1, alpha = 0.7>(x) }"},
    {"MeanVarianceNormalization",
     "(float[N,2,3,2] x) => (float[N,2,3,2] y) { y = MeanVarianceNormalization<axes = [2, 3]>(x) }"},
    {"MeanVarianceNormalization",
     "(float[N,2,3,2] x) => (float[N,2,3,2] y) { y = MeanVarianceNormalization(x) }"},
    {"DequantizeLinear",
     "(int64[N,3,2] i, float[3] s, int64[3] j) => (float[N,3,2] y) { q = Cast<to = 3>(i) z = Cast<to = 3>(j) "
     "y = DequantizeLinear(q, s, z) }"},
    {"DequantizeLinear",
     "(int64[N,3] i, float s) => (float[N,3] y) { q = Cast<to = 2>(i) y = DequantizeLinear(q, s) }"},
};

}  // namespace

std::span<const GradientCase> ExpansionCases() { return kCases; }

}  // namespace ort_ed
