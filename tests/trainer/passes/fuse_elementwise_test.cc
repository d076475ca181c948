#include "trainer/passes/fuse_elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

std::vector<std::string> OperatorsAfter(const std::string& text) {
  onnx::ModelProto model = ParseModel(text);
  FuseElementwise(model);
  std::vector<std::string> operators;
  for (const auto& node : model.graph().node()) operators.push_back(node.op_type());
  return operators;
}

// A step of Adam with clipping and a soft threshold, on vectors of 20,000 and a few: the last piece and the
// last vector are not full.
constexpr char kAdam[] =
    "(float[20003] g, float[20003] p, float[20003] m, float[20003] v, float[1] rate)"
    " => (float[20003] p2, float[20003] m2, float[20003] v2, float[1] length) {"
    " squares = ReduceSumSquare<axes = [0]>(g) norm = Sqrt(squares)"
    " c = Div(g, norm) a = Constant<value = float {0.9}>() b = Constant<value = float {0.1}>()"
    " m_old = Mul(m, a) m_new = Mul(b, c) m2 = Add(m_old, m_new)"
    " cc = Mul(c, c) v_new = Mul(cc, b) v_old = Mul(v, a) v2 = Add(v_old, v_new)"
    " root = Sqrt(v2) direction = Div(m2, root) move = Mul(direction, rate) moved = Sub(p, move)"
    " sign = Sign(moved) size = Abs(moved) rest = Sub(size, a) kept = Relu(rest) p2 = Mul(sign, kept)"
    " length = ReduceSumSquare<axes = [0]>(p2) }";

TEST(FuseElementwiseTest, AnOptimiserIsOneNodeBetweenItsReductions) {
  EXPECT_THAT(OperatorsAfter(kAdam), ElementsAre("ReduceSumSquare", "Sqrt", "Constant", "Constant",
                                                 "Elementwise", "ReduceSumSquare"));
}

TEST(FuseElementwiseTest, TheSameBitsAsTheStandardOperators) {
  onnx::ModelProto standard = ParseModel(kAdam), fused = standard;
  FuseElementwise(fused);
  TestTensors inputs;
  for (const auto& input : standard.graph().input()) {
    TestTensor& tensor = inputs[input.name()];
    tensor.shape = {input.type().tensor_type().shape().dim(0).dim_value()};
    for (int64_t i = 0; i < tensor.shape[0]; ++i) {
      const auto spread = static_cast<double>((i * 7919 + input.name()[0] * 31) % 1009);
      tensor.values.push_back(0.01 + spread / 1009);
    }
  }
  const auto expected = TestSession(standard, false).Run(inputs),
             result = TestSession(fused, true).Run(inputs);
  for (const char* name : {"p2", "m2", "v2", "length"})
    EXPECT_EQ(result.at(name).values, expected.at(name).values);
}

TEST(FuseElementwiseTest, WhatNeedsAResultThroughAnotherOperatorStaysOutside) {
  EXPECT_THAT(
      OperatorsAfter("(float[5000] x, float[5000] y) => (float[5000] z) {"
                     " a = Add(x, y) b = Mul(a, x) c = Sub(b, y) d = Tanh(c) e = Add(d, c) z = Mul(e, x) }"),
      ElementsAre("Elementwise", "Tanh", "Add", "Mul"));
}

TEST(FuseElementwiseTest, ShortVectorsMatricesAndFewNodesStay) {
  EXPECT_THAT(OperatorsAfter("(float[50] x) => (float[50] y) { a = Add(x, x) b = Mul(a, x) y = Sub(b, x) }"),
              ElementsAre("Add", "Mul", "Sub"));
  EXPECT_THAT(
      OperatorsAfter("(float[9,5000] x) => (float[9,5000] y) { a = Add(x, x) b = Mul(a, x) y = Sub(b, x) }"),
      ElementsAre("Add", "Mul", "Sub"));
  EXPECT_THAT(OperatorsAfter("(float[5000] x) => (float[5000] y) { a = Add(x, x) y = Mul(a, x) }"),
              ElementsAre("Add", "Mul"));
}

}  // namespace
}  // namespace ort_ed
