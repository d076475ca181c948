#include "trainer/autodiff/blind_spots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include "models/architectures/energy_spec.h"

namespace ort_ed {
namespace {

// `nodes` make `value`, float [batch, n], of x, float [batch, 3]; the energy is the sum of its columns.
std::vector<std::string> BlindOperators(const std::string& nodes) {
  const std::string text = R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[batch, 3] x) => (float[batch] energy)
    <float[2, 4] table = {1, 2, 3, 4, 5, 6, 7, 8}, float[3, 3] w = {1, -2, 3, 2, 1, -1, 1, 1, 2}>
    {
      one = Constant<value = int64[1] {1}>()
      half = Constant<value = float {0.5}>()
      zero = Constant<value = float {0.0}>()
      two = Constant<value = float {2.0}>()
      depth = Constant<value = int64[1] {2}>()
      levels = Constant<value = float[2] {0.0, 1.0}>()
      )" + nodes + R"(
      energy = ReduceSum<keepdims = 0>(value, one)
    })";
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  std::vector<std::string> operators;
  for (const BlindSpot& spot : FindBlindSpots(model)) operators.push_back(spot.op);
  return operators;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BlindSpots, AreTheNodesWhereTheWayLosesItsSlope) {
  EXPECT_THAT(BlindOperators(
                  "i = Cast<to = 7>(x) rows = Gather(table, i) value = ReduceSum<keepdims = 0>(rows, one)"),
              ElementsAre("Cast"));
  EXPECT_THAT(BlindOperators("i = Cast<to = 7>(x) rows = OneHot(i, depth, levels) "
                             "value = ReduceSum<keepdims = 0>(rows, one)"),
              ElementsAre("Cast"));
  EXPECT_THAT(BlindOperators("is = Greater(x, half) value = Cast<to = 1>(is)"), ElementsAre("Greater"));
  EXPECT_THAT(BlindOperators("is = Greater(x, half) value = Where(is, half, two)"), ElementsAre("Greater"));
  EXPECT_THAT(BlindOperators("i = ArgMax<axis = 1>(x) value = Cast<to = 1>(i)"), ElementsAre("ArgMax"));
  EXPECT_THAT(BlindOperators("y = MatMul(x, w) value = Round(y)"), ElementsAre("Round"));
}

TEST(BlindSpots, CountWhereAnotherWayHasASlope) {
  EXPECT_THAT(
      BlindOperators("is = Less(x, half) there = Cast<to = 1>(is) y = MatMul(x, w) value = Add(y, there)"),
      ElementsAre("Less"));
}

TEST(BlindSpots, AreNotShapesNorKinksNorWhatDoesNotMatter) {
  EXPECT_THAT(BlindOperators("y = MatMul(x, w) value = Relu(y)"), IsEmpty());
  EXPECT_THAT(BlindOperators("y = MatMul(x, w) is = Greater(y, zero) value = Where(is, y, zero)"), IsEmpty());
  EXPECT_THAT(BlindOperators("s = Shape(x) y = MatMul(x, w) value = Reshape(y, s)"), IsEmpty());
  EXPECT_THAT(BlindOperators("unused = Round(x) value = MatMul(x, w)"), IsEmpty());
}

TEST(BlindSpots, OurOwnArchitecturesHaveNone) {
  for (const char* architecture : {"ising", "rbm", "mlp", "resnet", "made"}) {
    EnergySpec spec;
    spec.architecture = architecture;
    spec.dimension = 16;
    if (spec.architecture.kind == "resnet") spec.image_shape = {4, 4};
    EXPECT_THAT(FindBlindSpots(BuildModel(spec)), IsEmpty()) << architecture;
  }
}

TEST(BlindSpots, AreToldByTheFirstAndTheirNumber) {
  EXPECT_EQ(DescribeBlindSpots({{"c", "Cast"}}),
            "the energy depends on x through Cast (node 'c'), whose derivative is zero");
  EXPECT_THAT(DescribeBlindSpots({{"c", "Cast"}, {"d", "Less"}, {"e", "Less"}}),
              testing::HasSubstr("(node 'c') and 2 more nodes,"));
}

TEST(QuantizedParameters, AreNamedWithTheNode) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[batch, 3] x) => (float[batch, 2] energy)
    <float[3, 2] w = {1, 2, 3, 4, 5, 6}, float s = {0.1}, float[2] b = {1, 2}, float[2] c = {1, 2}>
    {
      n = Shape(c)
      v = Tanh(w)
      q = QuantizeLinear(v, s)
      d = DequantizeLinear(q, s)
      m = MatMul(x, d)
      energy = Add(m, b)
    })");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  EXPECT_THAT(DescribeQuantized(model.graph(), {"w", "s", "b", "c"}),
              testing::StartsWith("the energy depends on 's', 'w' through QuantizeLinear (node 'q')"));
  EXPECT_EQ(DescribeQuantized(model.graph(), {"b", "c"}), "");
}

}  // namespace
}  // namespace ort_ed
