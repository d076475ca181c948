// Axes, shapes and conditions that a graph computes from constants and fixed extents become numbers.
#include "trainer/graph/fold/fold_constants.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

int64_t Count(const onnx::ModelProto& model, const std::string& op) {
  return std::ranges::count(model.graph().node(), op, &onnx::NodeProto::op_type);
}

onnx::ModelProto Folded(const onnx::ModelProto& model) {
  onnx::ModelProto folded = model;
  FoldConstants(folded);
  for (const int64_t batch : {1, 3}) {
    const TestTensors inputs = InputsFor(model, -1.5, 1.5, batch);
    EXPECT_EQ(TestSession(folded).Run(inputs).at("y").values, TestSession(model).Run(inputs).at("y").values);
  }
  return folded;
}

constexpr GradientCase kCases[] = {
    {"AxesOfParts",
     "(float[N,3,2] x) => (float[N] y) { a = Constant<value_float = 1.0>() b = Cast<to = 7>(a) "
     "z = Constant<value_ints = [0]>() c = Unsqueeze(b, z) two = Constant<value_ints = [2]>() "
     "d = Concat<axis = 0>(c, two) e = Identity(d) s = ReduceSum<keepdims = 0>(x, e) y = Exp(s) }"},
    {"HalfOfAnExtent",
     "(float[N,4] x) => (float[N,2] y) { s = Shape(x) one = Constant<value_int = 1>() "
     "n = Gather(s, one) two = Constant<value_int = 2>() h = Div(n, two) z = Constant<value_ints = [0]>() "
     "start = Unsqueeze(h, z) l = Constant<value_ints = [4]>() axis = Constant<value_ints = [1]>() "
     "p = Slice(x, start, l, axis) y = Exp(p) }"},
    {"ConditionOfAnExtent",
     "(float[N,1,3] x) => (float[N,3] y) { s = Shape(x) one = Constant<value_int = 1>() n = Gather(s, one) "
     "c = Equal(n, one) t = If<then_branch = g () => (float[N,3] a) { i = Constant<value_ints = [1]>() "
     "a = Squeeze(x, i) }, else_branch = h () => (float[N,1,3] b) { b = Identity(x) }>(c) y = Exp(t) }"},
    {"AxesOfARange",
     "(float[N,3,2] x) => (float[N] y) { s = Shape(x) rank = Size(s) one = Constant<value_int = 1>() "
     "axes = Range(one, rank, one) e = Exp(x) y = ReduceSum<keepdims = 0>(e, axes) }"},
    {"ConditionThatIsStored",
     "(float[N,3] x) => (float[N,3] y) <bool no = {0}> { "
     "t = If<then_branch = g () => (float[N,3] a) { a = Exp(x) }, else_branch = h () => (float[N,3] b) { "
     "c = Exp(x) b = Mul(c, x) }>(no) y = Tanh(t) }"},
    {"LoopOfThreeTrips",
     "(float[N,2] x, float[2,2] w) => (float[N,2] y) <int64 n = {3}, bool yes = {1}> { "
     "s, t = Loop<body = g (int64 i, bool c, float[N,2] h) => (bool d, float[N,2] k, float[N,2] l) { "
     "d = Identity(c) j = Cast<to = 1>(i) m = MatMul(h, w) a = Add(m, j) k = Tanh(a) l = Mul(k, x) }>(n, "
     "yes, x) "
     "z = Constant<value_ints = [0]>() u = ReduceSum<keepdims = 0>(t, z) y = Mul(s, u) }"},
    {"LoopThatDecidesNothing",
     "(float[N,2] x) => (float[N,2] y) <int64 n = {2}> { "
     "s = Loop<body = g (int64 i, bool c, float[N,2] h) => (bool d, float[N,2] k) { "
     "one = Constant<value_int = 1>() d = Cast<to = 9>(one) k = Sin(h) }>(n, , x) y = Mul(s, x) }"},
    {"ScanBackwards",
     "(float[N,3,2] x, float[2] w) => (float[N,2] y) { z = Constant<value_float = 0.5>() h = Mul(w, z) "
     "r = ReduceSum<keepdims = 0>(x) q = Mul(r, h) "
     "s, t = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], "
     "scan_output_axes = [1], body = g (float[2] a, float[N,2] b) => (float[2] c, float[N,2] d) { "
     "e = Tanh(b) f = ReduceSum<keepdims = 0>(e) c = Mul(a, w) d = Mul(e, c) }>(q, x) "
     "o = Constant<value_ints = [1]>() u = ReduceSum<keepdims = 0>(t, o) y = Mul(u, s) }"},
    {"ListThatGrows",
     "(float[N,2] x) => (float[2,N,2] y) { e = SequenceEmpty() a = Sin(x) b = Cos(x) f = SequenceInsert(e, "
     "b) "
     "z = Constant<value_int = 0>() g = SequenceInsert(f, a, z) "
     "y = ConcatFromSequence<axis = 0, new_axis = 1>(g) }"},
    {"SplitAndTakenFrom",
     "(float[N,4] x) => (float[N,2] y) { two = Constant<value_int = 2>() zero = Constant<value_int = 0>() "
     "one = Constant<value_int = 1>() last = Constant<value_int = -1>() s = SplitToSequence<axis = 1>(x, "
     "two) "
     "t = SequenceErase(s, zero) a = SequenceAt(s, zero) b = SequenceAt(t, last) m = SequenceLength(t) "
     "c = SequenceConstruct(a, b) d = SequenceAt(c, one) e = Mul(a, d) k = Cast<to = 1>(m) y = Mul(e, k) }"},
};

class FoldTest : public testing::TestWithParam<GradientCase> {};

TEST_P(FoldTest, ComputesTheSame) {
  const onnx::ModelProto folded = Folded(ParseModel(GetParam().graph, GetParam().opset));
  const std::string graph = GetParam().graph;
  const bool stacks = graph.find("Loop<") != graph.npos || graph.find("Scan<") != graph.npos ||
                      graph.find("ConcatFromSequence<") != graph.npos;
  for (const char* op : {"Concat", "Gather", "Div", "Equal", "Cast", "If", "Range", "Size"})
    EXPECT_TRUE(stacks || Count(folded, op) == 0) << op;
  for (const char* op : {"Loop", "Scan", "SplitToSequence", "ConcatFromSequence", "SequenceAt",
                         "SequenceInsert", "SequenceLength"})
    EXPECT_EQ(Count(folded, op), 0) << op;
}

TEST_P(FoldTest, CanBeDifferentiated) {
  GradientCase test = GetParam();
  test.rewrite = FoldConstants;
  CheckGradients(test);
}

INSTANTIATE_TEST_SUITE_P(Fold, FoldTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(FoldConstantsTest, WhatDependsOnTheBatchStays) {
  const onnx::ModelProto folded = Folded(ParseModel(
      "(float[N,4] x) => (float[N,2,2] y) { s = Shape(x) z = Constant<value_ints = [0]>() "
      "n = Gather(s, z) r = Constant<value_ints = [2, 2]>() t = Concat<axis = 0>(n, r) y = Reshape(x, t) }"));
  EXPECT_EQ(Count(folded, "Shape"), 1);
  const onnx::ModelProto branch = Folded(ParseModel(
      "(float[N,4] x) => (float[N,4] y) { s = Shape(x) z = Constant<value_int = 0>() n = Gather(s, "
      "z) one = Constant<value_int = 1>() c = Equal(n, one) y = If<then_branch = g () => "
      "(float[N,4] a) { a = Exp(x) }, else_branch = h () => (float[N,4] b) { b = Tanh(x) }>(c) }"));
  EXPECT_EQ(Count(branch, "If"), 1);
}

TEST(FoldConstantsTest, ParametersAreNoConstants) {
  const onnx::ModelProto folded = Folded(
      ParseModel("(float[N,2] x) => (float[N,2] y) <float[2] w = {0.5, 2.0}> { v = Exp(w) y = Mul(x, v) }"));
  EXPECT_EQ(Count(folded, "Exp"), 1);
}

TEST(FoldConstantsTest, TripsShareTheirParameters) {
  onnx::ModelProto model = ParseModel(
      "(float[N,2] x) => (float[N,2] y) <int64 n = {3}, bool yes = {1}> { y = Loop<body = g (int64 i, bool "
      "c, "
      "float[N,2] h) => (bool d, float[N,2] k) { d = Identity(c) k = Mul(h, w) }>(n, yes, x) }");
  onnx::TensorProto& weight =
      *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(2);
  weight.add_float_data(0.5f);
  weight.add_float_data(2.0f);
  const onnx::ModelProto folded = Folded(model);
  EXPECT_EQ(Count(folded, "Mul"), 3);
  const auto is_float = [](const onnx::TensorProto& t) { return t.data_type() == onnx::TensorProto::FLOAT; };
  EXPECT_EQ(std::ranges::count_if(folded.graph().initializer(), is_float), 1);
}

TEST(FoldConstantsTest, LoopsOfUnknownLengthStay) {
  const onnx::ModelProto ends = Folded(
      ParseModel("(float[N,2] x) => (float[N,2] y) <int64 n = {3}, bool yes = {1}, float most = {1.0}> { "
                 "y = Loop<body = g (int64 i, bool c, float[N,2] h) => (bool d, float[N,2] k) { k = Sin(h) "
                 "m = ReduceMax<keepdims = 0>(k) d = Less(m, most) }>(n, yes, x) }"));
  EXPECT_EQ(Count(ends, "Loop"), 1);
}

TEST(FoldConstantsTest, LargeResultsStayComputed) {
  const onnx::ModelProto folded =
      Folded(ParseModel("(float[N,2] x) => (float[N,2] y) { n = Constant<value_ints = [100000]>() "
                        "v = ConstantOfShape(n) s = ReduceSum<keepdims = 0>(v) y = Add(x, s) }"));
  EXPECT_EQ(Count(folded, "ConstantOfShape"), 1);
  const onnx::ModelProto table =
      Folded(ParseModel("(float[N,2] x) => (float[N,2] y) { n = Constant<value_ints = [2, 2]>() "
                        "e = ConstantOfShape(n) y = MatMul(x, e) }"));
  EXPECT_EQ(Count(table, "ConstantOfShape"), 1);
}

}  // namespace
}  // namespace ort_ed
