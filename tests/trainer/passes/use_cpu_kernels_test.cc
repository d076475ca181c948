#include "trainer/passes/use_cpu_kernels.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_check.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/autodiff/rules.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

// Operators in order; ours with the domain.
std::vector<std::string> Operators(const onnx::ModelProto& model) {
  std::vector<std::string> operators;
  for (const auto& node : model.graph().node()) {
    operators.push_back(node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type());
  }
  return operators;
}

std::vector<std::string> OperatorsAfter(const std::string& text) {
  onnx::ModelProto model = ParseModel(text, 21);
  UseCpuKernels(model);
  return Operators(model);
}

std::string WithInputs(const std::string& inputs, const std::string& shape, const std::string& body) {
  return "(" + inputs + ") => (float[" + shape + "] y) { " + body + " }";
}

TEST(UseCpuKernelsTest, SwishInEveryForm) {
  const std::string x = "float[N,8] x, float b, float[1] b1";
  for (const char* body :
       {"s = Sigmoid(x) y = Mul(x, s)", "s = Sigmoid(x) y = Mul(s, x)",
        "z = Mul(b, x) s = Sigmoid(z) y = Mul(x, s)", "z = Mul(x, b1) s = Sigmoid(z) y = Mul(s, x)"}) {
    EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8", body)), ElementsAre("ort_ed.Swish")) << body;
  }
}

TEST(UseCpuKernelsTest, WhatIsNotSwishStays) {
  const std::string x = "float[N,8] x, float[N,8] u, float[8] b, float[1,1,1] wide";
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8", "s = Sigmoid(u) y = Mul(x, s)")),
              ElementsAre("Sigmoid", "Mul"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8", "z = Mul(b, x) s = Sigmoid(z) y = Mul(x, s)")),
              ElementsAre("Mul", "Sigmoid", "Mul"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "1,N,8", "z = Mul(wide, x) s = Sigmoid(z) y = Mul(x, s)")),
              ElementsAre("Mul", "Sigmoid", "Mul"));
  EXPECT_THAT(OperatorsAfter("(double[N,8] x) => (double[N,8] y) { s = Sigmoid(x) y = Mul(x, s) }"),
              ElementsAre("Sigmoid", "Mul"));
}

TEST(UseCpuKernelsTest, ASigmoidThatOthersUseStays) {
  EXPECT_THAT(
      OperatorsAfter("(float[N,8] x) => (float[N,8] y, float[N,8] s) { s = Sigmoid(x) y = Mul(x, s) }"),
      ElementsAre("Sigmoid", "ort_ed.Swish"));
  EXPECT_THAT(OperatorsAfter(WithInputs("float[N,8] x", "N,8", "s = Sigmoid(x) t = Mul(x, s) y = Add(t, s)")),
              ElementsAre("Sigmoid", "ort_ed.Swish", "Add"));
}

TEST(UseCpuKernelsTest, Convolutions) {
  const std::string x =
      "float[N,3,6,6] x, float[8,3,3,3] w, float[8] b, float[4,3,3,3] narrow, float[9,1,3,3] g";
  const auto replaced = ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsFirst");
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8,4,4", "y = Conv(x, w, b)")), replaced);
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8,4,4", "y = Conv<auto_pad = \"VALID\">(x, w)")), replaced);
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,8,6,6", "y = Conv<auto_pad = \"SAME_UPPER\">(x, w)")),
              ElementsAre("Conv"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,4,4,4", "y = Conv(x, narrow)")), ElementsAre("Conv"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,9,4,4", "y = Conv<group = 3>(x, g)")), replaced);
  EXPECT_THAT(OperatorsAfter("(float[N,3,9] x, float[8,3,3] w) => (float[N,8,7] y) { y = Conv(x, w) }"),
              replaced);
  EXPECT_THAT(
      OperatorsAfter("(float[N,3,4,4,4] x, float[8,3,3,3,3] w) => (float[N,8,2,2,2] y) { y = Conv(x, w) }"),
      replaced);
  EXPECT_THAT(OperatorsAfter("(float[N,3,K] x, float[8,3,3] w) => (float[N,8,L] y) { y = Conv(x, w) }"),
              ElementsAre("Conv"));
}

TEST(UseCpuKernelsTest, ChannelsStayLastThroughElementwiseOperators) {
  const std::string inputs =
      "float[N,8,6,6] x, float[8,8,1,1] v, float[8,8,1,1] w, float c, float[1,8,1,1] g, float[8,1,1] h";
  EXPECT_THAT(
      OperatorsAfter(WithInputs(inputs, "N,8,6,6",
                                "a = Conv(x, v) b = Relu(a) d = Mul(b, c) e = Add(x, d) y = Conv(e, w)")),
      ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.Relu", "Mul", "Add", "ort_ed.Conv",
                  "ort_ed.ChannelsFirst"));
  EXPECT_THAT(OperatorsAfter(WithInputs(inputs, "N,8,6,6", "a = Conv(x, v) b = Mul(g, a) y = Conv(b, w)")),
              ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsLast", "Mul", "ort_ed.Conv",
                          "ort_ed.ChannelsFirst"));
  EXPECT_THAT(OperatorsAfter(WithInputs(inputs, "N,8,6,6", "a = Conv(x, v) b = Mul(h, a) y = Conv(b, w)")),
              ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsFirst", "Mul",
                          "ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsFirst"));
}

TEST(UseCpuKernelsTest, BothLayoutsWhereBothAreWanted) {
  EXPECT_THAT(OperatorsAfter("(float[N,8,6,6] x, float[8,8,1,1] w) => (float[N,8,6,6] a, float[N,8,6,6] y) {"
                             " a = Conv(x, w) s = Softmax(a) y = Conv(a, w) }"),
              ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsFirst", "Softmax",
                          "ort_ed.Conv", "ort_ed.ChannelsFirst"));
}

TEST(UseCpuKernelsTest, DenseLayers) {
  const std::string x =
      "float[N,9] x, float[9,10] w, float[10,9] t, float[10] b, float[1,10] row, float[9,2] narrow";
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "y = Gemm(x, w, b)")), ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "y = Gemm<transB = 1>(x, t, b)")),
              ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "y = MatMul(x, w)")), ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "m = MatMul(x, w) y = Add(b, m)")),
              ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "m = MatMul(x, w) y = Add(m, row)")),
              ElementsAre("ort_ed.Dense", "Add"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "m = MatMul(x, w) a = Add(m, b) y = Mul(a, m)")),
              ElementsAre("ort_ed.Dense", "Add", "Mul"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "y = Gemm<alpha = 2.0>(x, w, b)")), ElementsAre("Gemm"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,10", "y = Gemm(x, w, row)")), ElementsAre("Gemm"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "9,10", "y = Gemm<transA = 1>(x, x)")), ElementsAre("Gemm"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,2", "y = MatMul(x, narrow)")), ElementsAre("MatMul"));
  EXPECT_THAT(OperatorsAfter("(float[N,3] x, float[3,1] w) => (float[N,1] y) { y = MatMul(x, w) }"),
              ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter("(float[N,3] x, float[3] v) => (float[N] y) { y = MatMul(x, v) }"),
              ElementsAre("ort_ed.Dense"));
  EXPECT_THAT(OperatorsAfter("(float[3] v, float[3,9] w) => (float[9] y) { y = MatMul(v, w) }"),
              ElementsAre("MatMul"));
}

TEST(UseCpuKernelsTest, SwishJoinsADenseLayerThatNobodyElseUses) {
  const std::string inputs = "float[N,9] x, float[9,10] w, float[10] b, float c";
  const std::string swish = "z = Mul(c, m) s = Sigmoid(z) ";
  EXPECT_THAT(OperatorsAfter(WithInputs(inputs, "N,10", "m = Gemm(x, w, b) " + swish + "y = Mul(m, s)")),
              ElementsAre("ort_ed.DenseSwish"));
  EXPECT_THAT(OperatorsAfter(WithInputs(inputs, "N,10", "m = MatMul(x, w) " + swish + "y = Mul(m, s)")),
              ElementsAre("ort_ed.DenseSwish"));
  EXPECT_THAT(OperatorsAfter(WithInputs(inputs, "N,10", "m = Gemm(x, w, b) s = Sigmoid(m) y = Mul(m, s)")),
              ElementsAre("ort_ed.DenseSwish"));
  EXPECT_THAT(OperatorsAfter(
                  WithInputs(inputs, "N,10", "m = Gemm(x, w, b) " + swish + "t = Mul(m, s) y = Add(t, m)")),
              ElementsAre("ort_ed.Dense", "ort_ed.Swish", "Add"));
}

TEST(UseCpuKernelsTest, AModelWithoutAnythingToReplaceIsUntouched) {
  onnx::ModelProto model = ParseModel("(float[N,3] x) => (float[N,3] y) { y = Tanh(x) }");
  const std::string before = model.SerializeAsString();
  UseCpuKernels(model);
  EXPECT_EQ(model.SerializeAsString(), before);
}

TEST(UseCpuKernelsTest, ImagesOfOtherOperators) {
  const std::string x = "float[N,4,6,6] x, float[4,2,2,2] w, float[4] a, float[4] b";
  const auto as = [](const char* op) {
    return ElementsAre("ort_ed.ChannelsLast", std::string("ort_ed.") + op, "ort_ed.ChannelsFirst");
  };
  EXPECT_THAT(
      OperatorsAfter(WithInputs(x, "N,4,3,3", "y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)")),
      as("MaxPool"));
  EXPECT_THAT(OperatorsAfter(WithInputs(
                  x, "N,4,2,2", "y = MaxPool<kernel_shape = [5, 5], strides = [2, 2], ceil_mode = 1>(x)")),
              ElementsAre("MaxPool"));
  EXPECT_THAT(
      OperatorsAfter(WithInputs(x, "N,4,3,3", "y = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x)")),
      ElementsAre("Constant", "ort_ed.ChannelsLast", "ort_ed.Conv", "ort_ed.ChannelsFirst"));
  EXPECT_THAT(
      OperatorsAfter(WithInputs(
          x, "N,4,3,3", "y = AveragePool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0]>(x)")),
      ElementsAre("AveragePool"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,2,12,12", "y = ConvTranspose<strides = [2, 2]>(x, w)")),
              as("ConvTranspose"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,4,6,6", "y = InstanceNormalization(x, a, b)")),
              as("GroupNorm"));
}

TEST(UseCpuKernelsTest, ChannelsStayLastThroughWhatKnowsThem) {
  const std::string inputs = "float[N,8,6,6] x, float[8,8,1,1] v, float[8,16,1,1] w";
  EXPECT_THAT(
      OperatorsAfter(
          WithInputs(inputs, "N,8,6,6", "a = Conv(x, v) b = Concat<axis = 1>(a, x) y = Conv(b, w)")),
      ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "Concat", "ort_ed.Conv", "ort_ed.ChannelsFirst"));
  EXPECT_THAT(
      OperatorsAfter("(float[N,8,6,6] x, float[8,8,1,1] v, float[8] s) => (float[N,8,6,6] y) {"
                     " a = Conv(x, v) b = Transpose<perm = [0, 2, 3, 1]>(a) c = LayerNormalization(b, s)"
                     " d = Transpose<perm = [0, 3, 1, 2]>(c) e = Add(d, a) y = Conv(e, v) }"),
      ElementsAre("ort_ed.ChannelsLast", "ort_ed.Conv", "Identity", "ort_ed.LayerNorm", "Add", "ort_ed.Conv",
                  "ort_ed.ChannelsFirst"));
  EXPECT_THAT(OperatorsAfter("(float[N,8,6,6] x, float[8,8,1,1] v) => (float[N,8] y) {"
                             " axes = Constant<value = int64[2] {2, 3}>() a = Conv(x, v)"
                             " y = ReduceMean<keepdims = 0>(a, axes) }"),
              testing::Not(testing::Contains("ort_ed.ChannelsFirst")));
}

TEST(UseCpuKernelsTest, Rows) {
  const std::string x =
      "float[N,6,9] x, float[9] a, float[9] b, float[N,9,6] z, float[5,6] m, float[N,6,4] v";
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,9", "y = LayerNormalization(x, a, b)")),
              ElementsAre("ort_ed.LayerNorm"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,9", "y = LayerNormalization<axis = 1>(x, x, x)")),
              ElementsAre("LayerNormalization"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,9", "y = Gelu(x)")), ElementsAre("ort_ed.Gelu"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,9", "y = Gelu<approximate = \"tanh\">(x)")),
              ElementsAre("Gelu"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,6", "y = MatMul(x, z)")), ElementsAre("ort_ed.MatMuls"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,5,9", "y = MatMul(m, x)")), ElementsAre("ort_ed.MatMuls"));
  EXPECT_THAT(OperatorsAfter("(float[N,6,9] x, float[1,9,6] one) => (float[N,6,6] y) { y = MatMul(x, one) }"),
              ElementsAre("MatMul"));
  const std::string scores = "s = MatMul(x, z) p = Softmax(s) ";
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,4", scores + "y = MatMul(p, v)")),
              ElementsAre("ort_ed.Attention"));
  EXPECT_THAT(OperatorsAfter(WithInputs(x, "N,6,4", scores + "t = MatMul(p, v) y = Add(t, t)")),
              ElementsAre("ort_ed.Attention", "Add"));
  EXPECT_THAT(OperatorsAfter(
                  "(float[N,6,9] x, float[N,9,6] z, float[N,6,4] v) => (float[N,6,4] y, float[N,6,6] p) {" +
                  scores + "y = MatMul(p, v) }"),
              ElementsAre("ort_ed.MatMuls", "Softmax", "ort_ed.MatMuls"));
}

constexpr GradientCase kCases[] = {
    {.name = "Swish", .graph = "(float[N,9] x) => (float[N,9] y) { s = Sigmoid(x) y = Mul(x, s) }"},
    {.name = "Swish",
     .graph = "(float[N,9] x, float b) => (float[N,9] y) { z = Mul(b, x) s = Sigmoid(z) y = Mul(x, s) }"},
    {.name = "Swish",
     .graph = "(float[N,9] x, float[1] b) => (float[N,9] y) { z = Mul(b, x) s = Sigmoid(z) y = Mul(x, s) }",
     .constant = "b"},
    {.name = "Dense", .graph = "(float[N,9] x, float[9,10] w) => (float[N,10] y) { y = MatMul(x, w) }"},
    {.name = "Dense",
     .graph = "(float[N,9] x, float[9,10] w, float[10] b) => (float[N,10] y) { y = Gemm(x, w, b) }"},
    {.name = "Dense",
     .graph =
         "(float[N,9] x, float[10,9] w, float[10] b) => (float[N,10] y) { y = Gemm<transB = 1>(x, w, b) }",
     .batch = 17},
    {.name = "Dense",
     .graph = "(float[N,9] x, float[9,10] w, float[10] b) => (float[N,10] y) { y = Gemm(x, w, b) }",
     .constant = "w"},
    {.name = "Dense",
     .graph = "(float[N,9] x, float[9,10] w, float[10] b) => (float[N,10] y) { y = Gemm(x, w, b) }",
     .constant = "x"},
    {.name = "Dense",
     .graph =
         "(float[N,19] x, float[1,19] w, float[1] b) => (float[N,1] y) { y = Gemm<transB = 1>(x, w, b) }"},
    {.name = "Dense", .graph = "(float[N,9] x, float[9] v) => (float[N] y) { y = MatMul(x, v) }"},
    {.name = "Dense",
     .graph = "(float[N,2] x, float[2] v, float[N] b) => (float[N] y) { m = MatMul(x, v) y = Add(m, b) }"},
    {.name = "DenseSwish",
     .graph = "(float[N,9] x, float[9,10] w, float[10] b, float c) => (float[N,10] y) {"
              " m = Gemm(x, w, b) z = Mul(c, m) s = Sigmoid(z) y = Mul(m, s) }"},
    {.name = "DenseSwish",
     .graph = "(float[N,9] x, float[10,9] w) => (float[N,10] y) {"
              " m = Gemm<transB = 1>(x, w) s = Sigmoid(m) y = Mul(m, s) }"},
    {.name = "DenseSwish",
     .graph = "(float[N,9] x, float[9,10] w, float[1] c) => (float[N,10] y) {"
              " m = MatMul(x, w) z = Mul(c, m) s = Sigmoid(z) y = Mul(m, s) }",
     .constant = "x"},
    {.name = "DenseSwish",
     .graph = "(float[N,9] x, float[9,10] w, float[10] b, float c) => (float[N,10] y) {"
              " m = Gemm(x, w, b) z = Mul(c, m) s = Sigmoid(z) y = Mul(m, s) }",
     .constant = "w"},
    {.name = "Conv",
     .graph = "(float[N,3,5,6] x, float[8,3,3,3] w, float[8] b) => (float[N,8,5,6] y) {"
              " y = Conv<pads = [1, 1, 1, 1]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,9,7,7] x, float[8,9,3,3] w) => (float[N,8,4,4] y) {"
              " y = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w) }"},
    {.name = "Conv",
     .graph = "(float[N,2,7,8] x, float[8,2,2,3] w, float[8] b) => (float[N,8,6,4] y) {"
              " y = Conv<pads = [0, 1, 1, 0], strides = [1, 2], dilations = [2, 1]>(x, w, b) }",
     .constant = "x"},
    {.name = "Conv",
     .graph = "(float[N,6,5,4] x, float[9,2,3,3] w, float[9] b) => (float[N,9,3,2] y) {"
              " y = Conv<pads = [1, 1, 1, 1], strides = [2, 2], group = 3>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,5,6,5] x, float[5,1,3,3] w, float[5] b) => (float[N,5,6,5] y) {"
              " y = Conv<pads = [1, 1, 1, 1], group = 5>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,3,9] x, float[5,3,3] w, float[5] b) => (float[N,5,5] y) { y = Conv<dilations = "
              "[2]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,2,3,4,3] x, float[4,2,2,3,2] w, float[4] b) => (float[N,4,3,2,3] y) {"
              " y = Conv<pads = [1, 1, 0, 0, 1, 1], strides = [1, 2, 1]>(x, w, b) }"},
    {.name = "Conv",
     .graph = "(float[N,3,5,6] x) => (float[N,3,2,3] y) {"
              " y = AveragePool<kernel_shape = [3, 2], strides = [2, 2]>(x) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,4,3,4] x, float[4,3,2,2] w, float[6] b) => (float[N,6,6,8] y) {"
              " y = ConvTranspose<strides = [2, 2], group = 2>(x, w, b) }"},
    {.name = "ConvTranspose",
     .graph = "(float[N,4,5] x, float[4,3,3] w) => (float[N,3,10] y) {"
              " y = ConvTranspose<strides = [2], pads = [1, 0], output_padding = [0]>(x, w) }"},
    {.name = "MaxPool",
     .graph = "(float[N,3,5,6] x) => (float[N,3,3,3] y) {"
              " y = MaxPool<kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 0]>(x) }"},
    {.name = "GroupNorm",
     .graph = "(float[N,3,4,2] x, float[3] a, float[3] b) => (float[N,3,4,2] y) {"
              " y = InstanceNormalization<epsilon = 0.01>(x, a, b) }"},
    {.name = "GroupNorm",
     .graph = "(float[N,6,5] x, float[6] a, float[6] b) => (float[N,6,5] y) {"
              " y = GroupNormalization<num_groups = 2, epsilon = 0.01>(x, a, b) }",
     .opset = 21,
     .in_float = true},
    {.name = "LayerNorm",
     .graph = "(float[N,4,9] x, float[9] a, float[9] b) => (float[N,4,9] y) {"
              " y = LayerNormalization<epsilon = 0.01>(x, a, b) }"},
    {.name = "LayerNorm",
     .graph =
         "(float[N,5] x, float[5] a) => (float[N,5] y) { y = LayerNormalization<epsilon = 0.01>(x, a) }"},
    {.name = "Gelu",
     .graph = "(float[N,37] x) => (float[N,37] y) { y = Gelu(x) }",
     .opset = 21,
     .low = -4,
     .high = 4},
    {.name = "Relu", .graph = "(float[N,37] x) => (float[N,37] y) { y = Relu(x) }"},
    {.name = "MatMuls",
     .graph = "(float[N,2,3,5] a, float[N,2,5,4] b) => (float[N,2,3,4] y) { y = MatMul(a, b) }"},
    {.name = "MatMuls", .graph = "(float[3,5] a, float[N,5,4] b) => (float[N,3,4] y) { y = MatMul(a, b) }"},
    {.name = "Attention",
     .graph = "(float[N,2,5,3] a, float[N,2,3,7] b, float[N,2,7,4] v) => (float[N,2,5,4] y) {"
              " s = MatMul(a, b) p = Softmax(s) y = MatMul(p, v) }"},
    {.name = "Dense",
     .graph = "(float[N,3,9] x, float[9,10] w, float[10] b) => (float[N,3,10] y) { m = MatMul(x, w) y = "
              "Add(m, b) }"},
    {.name = "ChannelsLast",
     .graph =
         "(float[N,2,5,5] x, float[8,2,3,3] v, float[8] s, float[8] t, float[8,10,1,1] u) => (float[N,8] y) {"
         " a = Conv<pads = [1, 1, 1, 1]>(x, v) b = Transpose<perm = [0, 2, 3, 1]>(a) c = "
         "LayerNormalization(b, s, t)"
         " d = Transpose<perm = [0, 3, 1, 2]>(c) e = Add(d, a) f = Concat<axis = 1>(e, x) g = Conv(f, u)"
         " axes = Constant<value = int64[2] {2, 3}>() y = ReduceMean<keepdims = 0>(g, axes) }",
     .opset = 21},
    {.name = "ChannelsLast",
     .graph =
         "(float[N,2,5,5] x, float[8,2,3,3] v, float[8,8,3,3] w, float[1,8,1,1] g) => (float[N,8,5,5] y) {"
         " a = Conv<pads = [1, 1, 1, 1]>(x, v) b = Tanh(a) d = Mul(b, g) e = Softmax<axis = 1>(a)"
         " f = Add(d, e) y = Conv<pads = [1, 1, 1, 1]>(f, w) }"},
    {.name = "ChannelsFirst",
     .graph = "(float[N,3,2,3] x, float[8,3,1,1] w) => (float[N,48] y) { a = Conv(x, w) y = Flatten(a) }"},
    // several layers, with fan-out and a shortcut
    {.name = "Network",
     .graph =
         "(float[N,16] x, float[8,1,3,3] w1, float[8] b1, float[8,8,3,3] w2, float[8,8,1,1] w3, float[8,8] "
         "w4)"
         " => (float[N,8] y) { shape = Constant<value = int64[4] {-1, 1, 4, 4}>() image = Reshape(x, shape)"
         " h = Conv<pads = [1, 1, 1, 1]>(image, w1, b1) s = Sigmoid(h) a = Mul(h, s)"
         " c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(a, w2) d = Conv<strides = [2, 2]>(a, w3)"
         " e = Add(c, d) f = Sigmoid(e) g = Mul(f, e) m = ReduceMean<axes = [2, 3], keepdims = 0>(g)"
         " y = MatMul(m, w4) }",
     .low = -0.7,
     .high = 0.7},
};

TEST(CpuKernelRulesTest, GradientsMatchCentralDifferencesOfTheStandardForm) {
  for (GradientCase test : kCases) {
    test.rewrite = UseCpuKernels;
    CheckGradients(test);
  }
}

TEST(CpuKernelRulesTest, EveryRuleHasACase) {
  std::set<std::string> covered;
  for (const GradientCase& test : kCases) covered.insert(test.name);
  for (const GradientRule& rule : CpuKernelRules()) EXPECT_TRUE(covered.count(rule.op)) << rule.op;
}

TEST(CpuKernelRulesTest, TheWholeStepRunsInOurKernels) {
  onnx::ModelProto model = ParseModel(kCases[std::size(kCases) - 1].graph);
  UseCpuKernels(model);
  const onnx::ModelProto with_gradients = WithGradients(model, {"w1", "b1", "w2", "w3", "w4"});
  for (const auto& op : Operators(with_gradients)) {
    EXPECT_NE(op, "Conv");
    EXPECT_NE(op, "Sigmoid");
    EXPECT_NE(op, "MatMul");
  }
}

// ONNX Runtime's graph optimisations leave our operators and their shapes alone.
TEST(CpuKernelOpsTest, OptimisedSessionsAgree) {
  onnx::ModelProto model = ParseModel(kCases[std::size(kCases) - 1].graph);
  UseCpuKernels(model);
  TestTensors inputs;
  for (const auto& input : model.graph().input()) {
    TestTensor tensor;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      tensor.shape.push_back(dim.has_dim_value() ? dim.dim_value() : 5);
    }
    int64_t count = 1;
    for (int64_t extent : tensor.shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) tensor.values.push_back(0.1 * static_cast<double>(i % 7 - 3));
    inputs[input.name()] = tensor;
  }
  EXPECT_EQ(TestSession(model, false).Run(inputs).at("y").values,
            TestSession(model, true).Run(inputs).at("y").values);
}

// Where the standard ReduceSum is 2.5 % off.
TEST(SumRowsTest, SumsOverMillionsOfRowsKeepTheirDigits) {
  constexpr int64_t kRows = 2'600'000;
  onnx::ModelProto model = ParseModel("(float[N,3] x, float[3] b) => (float[N,3] y) { y = Add(x, b) }");
  ImportCpuKernels(model);
  const onnx::ModelProto gradient = WithGradients(model, {"b"});
  EXPECT_THAT(Operators(gradient), testing::Contains("ort_ed.SumRows"));
  const std::vector<double> values(kRows * 3, 0.3f);
  const TestTensor rows{{kRows, 3}, values};
  const TestTensors inputs = {{"x", rows}, {"b", {{3}, {0, 0, 0}}}, {"seed", rows}};
  const TestTensors gradients = TestSession(gradient).Run(inputs);
  for (const double sum : gradients.at("d_b").values)
    EXPECT_NEAR(sum / (0.3f * static_cast<double>(kRows)), 1, 5e-5);
}

TEST(SumRowsTest, IsTheGradientOfWhatAllRowsShare) {
  for (const char* graph : {"(float[N,3] x, float[3] b) => (float[N,3] y) { y = Add(x, b) }",
                            "(float[N,3] x, float[1,3] b) => (float[N,3] y) { y = Mul(x, b) }",
                            "(float[N,4,3] x, float[3] b) => (float[N,4,3] y) { y = Mul(x, b) }",
                            "(float[N,4,3] x, float[4,3] b) => (float[N,4,3] y) { y = Add(x, b) }"})
    CheckGradients({.name = "SumRows", .graph = graph, .in_float = true, .rewrite = ImportCpuKernels});
}

}  // namespace
}  // namespace ort_ed
