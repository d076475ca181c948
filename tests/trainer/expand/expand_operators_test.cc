// What operators are expanded to computes the same, and has the gradient that differences of the operator
// itself say.
#include "trainer/expand/expand_operators.h"

#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {
namespace {

onnx::ModelProto Model(const GradientCase& test) { return ParseModel(test.graph, test.opset); }

class ExpandedTest : public testing::TestWithParam<GradientCase> {};

TEST_P(ExpandedTest, ComputesTheSame) {
  const onnx::ModelProto model = Model(GetParam());
  onnx::ModelProto expanded = model;
  ExpandOperators(expanded);
  for (const auto& node : expanded.graph().node()) EXPECT_FALSE(IsExpanded(node.domain(), node.op_type()));
  const TestTensors inputs = InputsFor(model);
  const TestTensors before = TestSession(model).Run(inputs), after = TestSession(expanded).Run(inputs);
  for (const auto& [name, tensor] : before) {
    ASSERT_EQ(after.at(name).shape, tensor.shape) << name;
    for (size_t i = 0; i < tensor.values.size(); ++i)
      EXPECT_NEAR(after.at(name).values[i], tensor.values[i], 1e-5 * (1 + std::abs(tensor.values[i])));
  }
}

TEST_P(ExpandedTest, HasTheGradientOfTheOperator) {
  GradientCase test = GetParam();
  test.rewrite = ExpandOperators;
  const std::string name = test.name;
  test.in_float = name == "GRU" || name == "LSTM";  // which ONNX Runtime has in no other type
  CheckGradients(test);
}

INSTANTIATE_TEST_SUITE_P(Expand, ExpandedTest, testing::ValuesIn(ExpansionCases()), [](const auto& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.index);
});

TEST(ExpandOperatorsTest, WhatIsNotCoveredStays) {
  onnx::ModelProto model = ParseModel(
      "(float[4,N,2] x, float[1,3,2] w, float[1,3,3] r) => (float[4,1,N,3] y) "
      "{ y = RNN<hidden_size = 3, clip = 0.5>(x, w, r) }");
  ExpandOperators(model);
  EXPECT_EQ(model.graph().node(model.graph().node_size() - 1).op_type(), "RNN");
}

}  // namespace
}  // namespace ort_ed
