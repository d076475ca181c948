// Models of older opsets and with functions compute the same after preparation, and can be differentiated.
#include "trainer/graph/prepare_model.h"

#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

// Prepares the model and compares what it computes before and after.
onnx::ModelProto Prepared(const onnx::ModelProto& model) {
  onnx::ModelProto prepared = model;
  PrepareForDifferentiation(prepared);
  const TestTensors before = TestSession(model).Run(InputsFor(model));
  const TestTensors after = TestSession(prepared).Run(InputsFor(model));
  for (const auto& [name, tensor] : before) {
    EXPECT_EQ(after.at(name).shape, tensor.shape) << name;
    EXPECT_EQ(after.at(name).values, tensor.values) << name;
  }
  EXPECT_GE(prepared.opset_import(0).version(), 17);
  EXPECT_EQ(prepared.functions_size(), 0);
  return prepared;
}

struct OldForm {
  const char* name;
  int64_t opset;
  const char* graph;
};

void PrintTo(const OldForm& form, std::ostream* out) { *out << form.graph; }

constexpr OldForm kOldForms[] = {
    {"Clip", 9, "(float[N,4] x) => (float[N,4] y) { y = Clip<min = -0.5, max = 0.6>(x) }"},
    {"ClipOneSide", 7, "(float[N,4] x) => (float[N,4] y) { y = Clip<max = 0.3>(x) }"},
    {"ClipInput", 11, "(float[N,4] x, float low) => (float[N,4] y) { y = Clip(x, low) }"},
    {"Pad", 9, "(float[N,3] x) => (float[N,6] y) { y = Pad<pads = [0, 1, 0, 2], value = 0.5>(x) }"},
    {"PadReflect", 7,
     "(float[N,3] x) => (float[N,5] y) { y = Pad<pads = [0, 1, 0, 1], mode = \"reflect\">(x) }"},
    {"Slice", 9, "(float[N,5] x) => (float[N,2] y) { y = Slice<starts = [1], ends = [3], axes = [1]>(x) }"},
    {"SliceAllAxes", 7, "(float[2,5] x) => (float[1,3] y) { y = Slice<starts = [1, -4], ends = [2, 4]>(x) }"},
    {"SliceInputs", 10,
     "(float[N,5] x) => (float[N,2] y) <int64[1] s = {1}, int64[1] e = {3}, int64[1] a = {1}> "
     "{ y = Slice(x, s, e, a) }"},
    {"Squeeze", 11, "(float[N,1,3] x) => (float[N,3] y) { y = Squeeze<axes = [1]>(x) }"},
    {"SqueezeAll", 11, "(float[1,3] x) => (float[3] y) { y = Squeeze(x) }"},
    {"Unsqueeze", 12, "(float[N,3] x) => (float[N,1,3] y) { y = Unsqueeze<axes = [1]>(x) }"},
    {"ReduceSum", 12, "(float[N,2,3] x) => (float[N,3] y) { y = ReduceSum<axes = [1], keepdims = 0>(x) }"},
    {"ReduceSumAll", 9, "(float[N,3] x) => (float[1,1] y) { y = ReduceSum(x) }"},
    {"ReduceMean", 9, "(float[N,2,3] x) => (float[N,1,3] y) { y = ReduceMean<axes = [1]>(x) }"},
    {"ReduceL2", 11, "(float[N,3] x) => (float[N] y) { y = ReduceL2<axes = [-1], keepdims = 0>(x) }"},
    {"Split", 9,
     "(float[N,5] x) => (float[N,2] y) { a, b = Split<axis = 1, split = [2, 3]>(x) c = Exp(b) y = Mul(a, a) "
     "}"},
    {"SplitEqual", 11, "(float[N,4] x) => (float[N,2] y) { a, b = Split<axis = 1>(x) y = Mul(a, b) }"},
    {"Softmax", 9, "(float[N,4] x) => (float[N,4] y) { y = Softmax(x) }"},
    {"SoftmaxOfMatrix", 11, "(float[N,2,3] x) => (float[N,2,3] y) { y = Softmax<axis = 1>(x) }"},
    {"SoftmaxFirstAxis", 11, "(float[N,3] x) => (float[N,3] y) { y = Softmax<axis = 0>(x) }"},
    {"LogSoftmax", 12, "(float[N,2,3] x) => (float[N,2,3] y) { y = LogSoftmax<axis = 2>(x) }"},
    {"LogSoftmaxOfMatrix", 7, "(float[N,2,3] x) => (float[N,2,3] y) { y = LogSoftmax(x) }"},
    {"Dropout", 7, "(float[N,3] x) => (float[N,3] y) { z = Dropout<ratio = 0.4>(x) y = Exp(z) }"},
    {"Dropout10", 10, "(float[N,3] x) => (float[N,3] y) { y, mask = Dropout(x) }"},
    {"BatchNormalization", 9,
     "(float[N,2,3] x, float[2] s, float[2] b, float[2] m) => (float[N,2,3] y) "
     "{ v = Exp(m) y = BatchNormalization<epsilon = 0.1>(x, s, b, m, v) }"},
    {"Scatter", 9,
     "(float[3,4] x, float[1,4] u) => (float[3,4] y) <int64[1,4] i = {2, 0, 1, 2}> { y = Scatter(x, i, u) }"},
    {"Upsample", 7,
     "(float[N,1,2,3] x) => (float[N,1,4,6] y) { y = Upsample<mode = \"nearest\", scales = [1.0, 1.0, 2.0, "
     "2.0]>(x) }"},
    {"UpsampleInput", 9,
     "(float[N,1,2,3] x) => (float[N,1,3,6] y) <float[4] s = {1.0, 1.0, 1.5, 2.0}> { y = Upsample<mode = "
     "\"linear\">(x, s) }"},
    {"Resize", 10,
     "(float[N,1,4,4] x) => (float[N,1,2,6] y) <float[4] s = {1.0, 1.0, 0.5, 1.5}> { y = Resize(x, s) }"},
    {"PRelu", 7, "(float[N,3] x, float[3] a) => (float[N,3] y) { y = PRelu(x, a) }"},
    {"Reshape", 5 + 2, "(float[N,4] x) => (float[N,2,2] y) <int64[3] s = {0, 2, 2}> { y = Reshape(x, s) }"},
    {"Conv", 9,
     "(float[N,1,5,5] x, float[2,1,3,3] w, float[2] b) => (float[N,2,3,3] y) { y = Conv<strides = [2, 2], "
     "auto_pad = \"SAME_UPPER\">(x, w, b) }"},
    {"Gemm", 7,
     "(float[N,3] x, float[2,3] w, float[2] b) => (float[N,2] y) { y = Gemm<transB = 1, alpha = 0.5>(x, w, "
     "b) }"},
};

class OldFormTest : public testing::TestWithParam<OldForm> {};

TEST_P(OldFormTest, ComputesTheSame) { Prepared(ParseModel(GetParam().graph, GetParam().opset)); }

TEST_P(OldFormTest, CanBeDifferentiated) {
  CheckGradients({.name = GetParam().name, .graph = GetParam().graph, .opset = GetParam().opset});
}

INSTANTIATE_TEST_SUITE_P(Prepare, OldFormTest, testing::ValuesIn(kOldForms),
                         [](const auto& test) { return test.param.name; });

TEST(PrepareModelTest, TopKOutsideThePathIsRaised) {
  Prepared(ParseModel("(float[N,4] x) => (float[N,2] y) { y, i = TopK<k = 2, axis = 1>(x) }", 9));
}

TEST(PrepareModelTest, InitialisersAreNoInputs) {
  onnx::ModelProto model =
      ParseModel("(float[N,2] x) => (float[N,2] y) <float[2] w = {1.5, -2.0}> { y = Mul(x, w) }", 8);
  model.set_ir_version(3);
  onnx::ValueInfoProto& input = *model.mutable_graph()->add_input();
  input = model.graph().input(0);
  input.set_name("w");
  input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()->DeleteSubrange(0, 1);
  PrepareForDifferentiation(model);
  EXPECT_EQ(model.graph().input_size(), 1);
  EXPECT_GE(model.ir_version(), 8);
}

TEST(PrepareModelTest, NodesAreSorted) {
  onnx::ModelProto model =
      ParseModel("(float[N] x) => (float[N] y) { a = Exp(x) b = Mul(a, x) y = Add(a, b) }");
  onnx::ModelProto shuffled = model;
  shuffled.mutable_graph()->mutable_node()->SwapElements(0, 2);
  PrepareForDifferentiation(shuffled);
  EXPECT_EQ(shuffled.graph().node(0).op_type(), "Exp");
  EXPECT_EQ(shuffled.graph().node(2).op_type(), "Add");
  PrepareForDifferentiation(model);
  EXPECT_EQ(model.graph().node(1).op_type(), "Mul");
}

// As training begins a norm's weight and its running variance are equal, and some exporters keep one of them.
TEST(PrepareModelTest, LayersThatReadOneInitialiserByChanceAreParted) {
  const std::string graph =
      R"(<ir_version: 8, opset_import: ["": 17]> g (float[batch, 2] x) => (float[batch, 2] energy)
         <float[2] one = {1, 1}, float[2] zero = {0, 0}, float[2, 2] w = {1, 2, 3, 4}, float[2, 2] v = {4, 3, 2, 1}> {
           a = LayerNormalization(x, one, zero) b = MatMul(a, w) c = LayerNormalization(b, one, zero) d = MatMul(c, )";
  const onnx::ModelProto parted = Prepared(ParseModel(graph + "v) energy = Add(d, zero) }"));
  ASSERT_EQ(parted.graph().initializer_size(), 7);
  EXPECT_EQ(parted.graph().node(0).input(1), "one");
  EXPECT_NE(parted.graph().node(2).input(1), "one");
  EXPECT_NE(parted.graph().node(2).input(2), parted.graph().node(4).input(1));
  const onnx::ModelProto tied = Prepared(ParseModel(graph + "w) energy = Add(d, zero) }"));
  EXPECT_EQ(tied.graph().initializer_size(), 4);
}

TEST(PrepareModelTest, InitialisersThatWereEqualByChanceAreParted) {
  const onnx::ModelProto model = ParseModel(
      "(float[N,3] x) => (float[N,3] y) <float[3] weight = {1, 1, 1}, float[3] b = {0, 0, 0}> { "
      "var = Identity(weight) mean = Identity(b) y = BatchNormalization(x, weight, b, mean, var) }");
  const onnx::ModelProto parted = Prepared(model);
  EXPECT_EQ(parted.graph().node_size(), 1);
  ASSERT_EQ(parted.graph().initializer_size(), 4);
  EXPECT_EQ(parted.graph().initializer(2).name(), "var");
  EXPECT_EQ(parted.graph().initializer(3).name(), "mean");
}

// x.squeeze() of one row would take its axis, too.
TEST(PrepareModelTest, OneRowStaysARow) {
  onnx::ModelProto model = ParseModel(
      "(float[N,3] x) => (float[N] y) <float[3,1] w = {1, 2, 3}> { h = MatMul(x, w) y = Squeeze(h) }");
  Prepared(model);
  PrepareForDifferentiation(model);
  EXPECT_EQ(TestSession(model).Run(InputsFor(model, -1.5, 1.5, 1)).at("y").shape, std::vector<int64_t>{1});
}

TEST(PrepareModelTest, TheStandardHasOneName) {
  onnx::ModelProto model = ParseModel("(float[N,3] x) => (float[N,3] y) { h = Exp(x) y = Tanh(h) }");
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  const onnx::ModelProto prepared = Prepared(model);
  EXPECT_EQ(prepared.graph().node(0).domain(), "");
  EXPECT_EQ(prepared.opset_import(0).domain(), "");
}

TEST(PrepareModelTest, WhatAProgramTiesStaysOne) {
  const onnx::ModelProto tied = ParseModel(
      "(float[N,2] x) => (float[N,2] y) <float[2] w = {0.5, -0.25}> { "
      "v = Identity(w) h = Mul(x, w) y = Mul(h, v) }");
  EXPECT_EQ(Prepared(tied).graph().initializer_size(), 1);
  const onnx::ModelProto alone =
      ParseModel("(float[N,2] x) => (float[N,2] y) <float[2] w = {1, 1}> { v = Identity(w) y = Mul(x, v) }");
  EXPECT_EQ(Prepared(alone).graph().initializer_size(), 1);
}

TEST(PrepareModelTest, ANewModelIsLeftAsItIs) {
  const onnx::ModelProto model = ParseModel("(float[N,2] x) => (float[N,2] y) { y = Exp(x) }", 21);
  EXPECT_EQ(Prepared(model).SerializeAsString(), model.SerializeAsString());
}

TEST(PrepareModelTest, WhatHasNoEquivalentIsNamed) {
  onnx::ModelProto model = ParseModel(
      "(float[N,2,3] x, float[2] s) => (float[N,2,3] y) { y = BatchNormalization<spatial = 0>(x, s, s, s, s) "
      "}",
      7);
  ExpectError(
      ErrorCode::kBadModel, [&] { PrepareForDifferentiation(model); }, "'y' (BatchNormalization)",
      "opset 17");
}

constexpr char kFunctionModel[] = R"(
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
test (float[N,3] x, float[3,4] w, float[4] b) => (float[N,4] y) {
  h = local.dense<slope = 0.3>(x, w, b)
  y = local.twice(h)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
dense <slope> (x, w, b) => (y) {
  t = MatMul(x, w)
  z = Add(t, b)
  y = LeakyRelu<alpha : float = @slope>(z)
}
<domain: "local", opset_import: ["" : 17]>
twice (x) => (y) {
  t = Add(x, x)
  y = Mul(t, x)
}
)";

TEST(InlineFunctionsTest, CallsBecomeNodes) {
  const onnx::ModelProto prepared = Prepared(ParseModel(kFunctionModel));
  EXPECT_EQ(prepared.graph().node_size(), 5);
}

TEST(InlineFunctionsTest, CanBeDifferentiated) {
  CheckGradients({.name = "functions", .graph = kFunctionModel});
}

TEST(InlineFunctionsTest, FunctionsInFunctionsAndOptionalInputs) {
  constexpr char kNested[] = R"(
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
test (float[N,3] x) => (float[N,3] y) {
  a = local.outer(x)
  y = local.outer(a)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
outer (x) => (y) {
  t = local.limited(x)
  u = Tanh(t)
  y = Mul(u, x)
}
<domain: "local", opset_import: ["" : 17]>
limited (x, low) => (y) {
  one = Constant<value_float = 0.4>()
  y = Clip(x, low, one)
}
)";
  Prepared(ParseModel(kNested));
  CheckGradients({.name = "nested functions", .graph = kNested});
}

TEST(InlineFunctionsTest, OldFunctionsAreRaised) {
  constexpr char kOld[] = R"(
<ir_version: 8, opset_import: ["" : 12, "local" : 1]>
test (float[N,2,3] x) => (float[N,3] y) { y = local.sum(x) }
<domain: "local", opset_import: ["" : 12]>
sum (x) => (y) {
  s = Softmax<axis = 1>(x)
  y = ReduceSum<axes = [1], keepdims = 0>(s)
}
)";
  CheckGradients({.name = "old function", .graph = kOld});
}

// `graph` and `function` are opsets, `op` what the function does.
std::string ModelOfTwoOpsets(int graph, int function, const std::string& op) {
  return "<ir_version: 8, opset_import: [\"\" : " + std::to_string(graph) + R"(, "local" : 1]>
test (float[N,3] x) => (float[N,3] y) { e = Exp(x) y = local.f(e) }
<domain: "local", opset_import: ["" : )" +
         std::to_string(function) + "]>\nf (x) => (y) { " + op + " }";
}

int64_t Opset(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (import.domain().empty()) return import.version();
  }
  return 0;
}

TEST(InlineFunctionsTest, FunctionsOfAnotherOpset) {
  constexpr char kSame[] = "s = Sigmoid(x) y = Mul(s, x)";
  EXPECT_EQ(Opset(Prepared(ParseModel(ModelOfTwoOpsets(18, 17, kSame)))), 18);
  EXPECT_EQ(Opset(Prepared(ParseModel(ModelOfTwoOpsets(17, 18, kSame)))), 18);
  CheckGradients({.name = "older function", .graph = ModelOfTwoOpsets(18, 13, kSame).c_str()});
}

// ONNX Runtime does not run such a model before it is prepared.
TEST(InlineFunctionsTest, OldFunctionsOfNewModelsAreRaised) {
  onnx::ModelProto model = ParseModel(ModelOfTwoOpsets(18, 10, "y = Clip<min = 0.5, max = 1.5>(x)"));
  PrepareForDifferentiation(model);
  EXPECT_EQ(Opset(model), 18);
  const TestTensors outputs = TestSession(model).Run(InputsFor(model));
  for (double value : outputs.at("y").values) {
    EXPECT_GE(value, 0.5);
    EXPECT_LE(value, 1.5);
  }
}

TEST(InlineFunctionsTest, AnOperatorThatIsNotTheSameInBothOpsetsIsAnError) {
  onnx::ModelProto model =
      ParseModel(ModelOfTwoOpsets(18, 17, "m = ReduceMean<axes = [1]>(x) y = Sub(x, m)"));
  ExpectError(
      ErrorCode::kBadModel, [&] { PrepareForDifferentiation(model); }, "the function 'f' uses opset 17",
      "'m' (ReduceMean)", "one opset");
}

TEST(InlineFunctionsTest, AFunctionThatCallsItselfIsAnError) {
  onnx::ModelProto model = ParseModel(R"(
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
test (float[N] x) => (float[N] y) { y = local.f(x) }
<domain: "local", opset_import: ["" : 17, "local" : 1]>
f (x) => (y) { y = local.f(x) }
)");
  ExpectError(
      ErrorCode::kBadModel, [&] { PrepareForDifferentiation(model); }, "'f' calls itself");
}

}  // namespace
}  // namespace ort_ed
