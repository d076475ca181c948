// Differentiation of whole networks, and what it refuses.
#include <gtest/gtest.h>

#include "models/graph/graph_builder.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

constexpr GradientCase kNetworks[] = {
    {.name = "Mlp",
     .graph = R"((float[N,6] x, float[6,5] w1, float[5] b1, float s1, float[5,5] w2, float[5] b2,
        float s2, float[5,1] w3, float[1] b3) => (float[N] y) {
      m1 = MatMul(x, w1) h1 = Add(m1, b1) z1 = Mul(h1, s1) g1 = Sigmoid(z1) a1 = Mul(h1, g1)
      h2 = Gemm(a1, w2, b2) z2 = Mul(s2, h2) g2 = Sigmoid(z2) a2 = Mul(h2, g2)
      e = Gemm(a2, w3, b3) axis = Constant<value_ints = [1]>() y = Squeeze(e, axis) })"},
    {.name = "Rbm", .graph = R"((float[N,6] x, float[6,4] w, float[6] v, float[4] c) => (float[N] y) {
      axis = Constant<value_ints = [1]>()
      m = MatMul(x, w) a = Add(m, c) s = Softplus(a) hidden = ReduceSum<keepdims = 0>(s, axis)
      visible = MatMul(x, v) sum = Add(hidden, visible) y = Neg(sum) })"},
    {.name = "Ising", .graph = R"((float[N,5] x, float[5,5] g, float[5] f) => (float[N] y) {
      axis = Constant<value_ints = [1]>() two = Constant<value_float = 2.0>() one = Constant<value_float = 1.0>()
      t = Transpose(g) j2 = Add(g, t) eye = EyeLike(g) off = Sub(one, eye) j = Mul(j2, off)
      x2 = Mul(x, two) s = Sub(x2, one) sj = MatMul(s, j) q = Mul(sj, s) e = ReduceSum<keepdims = 0>(q, axis)
      field = MatMul(s, f) sum = Add(e, field) y = Neg(sum) })"},
    {.name = "SharedWeights", .graph = R"((float[N,4] x, float[4,4] w) => (float[N,1] y) {
      a = MatMul(x, w) b = Tanh(a) c = MatMul(b, w) d = Add(c, x) t = Transpose(w) e = MatMul(d, t) f = Mul(e, b)
      y = ReduceMean<axes = [1]>(f) })"},
    {.name = "FanOut", .graph = R"((float[N,3] x) => (float[N] y) {
      axis = Constant<value_ints = [1]>()
      a = Exp(x) b = Sin(x) c = Mul(a, b) d = Add(c, a) e = Mul(d, x) f = Sub(e, b) g = Sum(f, a, b, x)
      y = ReduceSum<keepdims = 0>(g, axis) })"},
    {.name = "ResidualConvolutions",
     .graph = R"((float[N,36] x, float[4,1,3,3] w0, float[4] b0, float[4,4,3,3] w1, float[4,4,3,3] w2,
        float[4,4,1,1] ws, float[4,4,3,3] w3, float[4,1] v) => (float[N,1] y) {
      image = Constant<value_ints = [-1, 1, 6, 6]>() i = Reshape(x, image)
      h = Conv<pads = [1, 1, 1, 1]>(i, w0, b0)
      c1 = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(h, w1) g1 = Sigmoid(c1) a1 = Mul(c1, g1)
      c2 = Conv<pads = [1, 1, 1, 1]>(a1, w2) s = Conv<strides = [2, 2]>(h, ws) r1 = Add(c2, s)
      g2 = Sigmoid(r1) a2 = Mul(r1, g2) c3 = Conv<pads = [1, 1, 1, 1]>(a2, w3) r2 = Add(c3, a2)
      p = GlobalAveragePool(r2) f = Flatten(p) y = MatMul(f, v) })",
     .low = -0.8,
     .high = 0.8},
    {.name = "Attention",
     .graph =
         R"((float[N,4,6] x, float[6,6] wq, float[6,6] wk, float[6,6] wv, float[6] scale, float[6] bias) =>
        (float[N] y) {
      heads = Constant<value_ints = [0, 4, 2, 3]>() merged = Constant<value_ints = [0, 4, 6]>()
      axes = Constant<value_ints = [1, 2]>() root = Constant<value_float = 1.7320508>()
      n = LayerNormalization(x, scale, bias)
      q = MatMul(n, wq) k = MatMul(n, wk) v = MatMul(n, wv)
      q4 = Reshape(q, heads) k4 = Reshape(k, heads) v4 = Reshape(v, heads)
      qh = Transpose<perm = [0, 2, 1, 3]>(q4) kh = Transpose<perm = [0, 2, 3, 1]>(k4)
      vh = Transpose<perm = [0, 2, 1, 3]>(v4)
      dots = MatMul(qh, kh) scaled = Div(dots, root) p = Softmax(scaled) o = MatMul(p, vh)
      ot = Transpose<perm = [0, 2, 1, 3]>(o) om = Reshape(ot, merged) r = Add(om, x) sq = Mul(r, r)
      y = ReduceSum<keepdims = 0>(sq, axes) })",
     .low = -0.8,
     .high = 0.8,
     .batch = 2},
    {.name = "ExportedByPyTorch",  // shapes computed at run time, as x.view(x.size(0), -1) is exported
     .graph = R"((float[N,8] x, float[2,1,2,2] w, float[6,1] v) => (float[N,1] y) {
      zero = Constant<value_int = 0>() axes = Constant<value_ints = [0]>()
      one = Constant<value_ints = [1]>() two = Constant<value_ints = [2]>() four = Constant<value_ints = [4]>()
      s = Shape(x) n = Gather(s, zero) n1 = Unsqueeze(n, axes) target = Concat<axis = 0>(n1, one, two, four)
      image = Reshape(x, target) c = Conv(image, w) r = Relu(c)
      s2 = Shape(r) m = Gather(s2, zero) m1 = Unsqueeze(m, axes) rest = Constant<value_ints = [-1]>()
      flat = Concat<axis = 0>(m1, rest) f = Reshape(r, flat) y = MatMul(f, v) })"},
    {.name = "Opset9",
     .graph = R"((float[N,6] x, float[6,4] w, float[4] b) => (float[N] y) {
      h = Gemm(x, w, b) c = Clip<min = -1.0, max = 1.2>(h) d = Dropout<ratio = 0.5>(c) s = Softmax(d)
      p = Mul(s, h) e = ReduceSum<axes = [1], keepdims = 1>(p) y = Squeeze<axes = [1]>(e) })",
     .opset = 9},
    {.name = "Opset11",
     .graph = R"((float[N,6] x, float[3,4] w) => (float[N,1] y) {
      u = Unsqueeze<axes = [1]>(x) a, b = Split<axis = 2>(u) m = MatMul(a, w) n = MatMul(b, w)
      p = Mul(m, n) s = Softmax<axis = 1>(p) y = ReduceSum<axes = [2], keepdims = 0>(s) })",
     .opset = 11},
    {.name = "Opset21",
     .graph = R"((float[N,4,4] x, float[4] s, float[4] b) => (float[N] y) {
      axes = Constant<value_ints = [1, 2]>()
      n = GroupNormalization<num_groups = 2>(x, s, b) g = Gelu(n) y = ReduceL2<keepdims = 0>(g, axes) })",
     .opset = 21,
     .in_float = true},
    {.name = "DeadBranches",
     .graph = R"((float[N,3] x, float[3] w, float[3] unused) => (float[N,3] y) {
      dead = Mul(x, unused) also = Det(dead2) dead2 = Identity(square) square = Expand(x, shape)
      shape = Constant<value_ints = [3, 3]>() y = Mul(x, w) })",
     .zero = "unused"},
    {.name = "LeavesOnTheWay", .graph = R"((float[N,3] x, float[3] w) => (float[N,3] y) {
      zero = Constant<value_float = 0.0>() big = Greater(x, zero) mask = Cast<to = 1>(big) r = Round(x)
      m = Mul(x, mask) a = Add(m, r) y = Mul(a, w) })"},
};

class NetworkTest : public testing::TestWithParam<GradientCase> {};

TEST_P(NetworkTest, MatchesCentralDifferences) { CheckGradients(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Networks, NetworkTest, testing::ValuesIn(kNetworks),
                         [](const auto& test) { return test.param.name; });

std::map<std::string, std::string> GradientsOf(onnx::ModelProto& model,
                                               const std::vector<std::string>& wanted,
                                               const std::string& seed = "") {
  GraphBuilder builder(model);
  return Differentiate(builder, {.output = "y", .output_gradient = seed, .with_respect_to = wanted});
}

TEST(DifferentiateTest, AMissingRuleNamesNodeAndOperator) {
  onnx::ModelProto model = ParseModel("(float[1,3,2] x) => (float[1,3,2] y) { d = DFT(x) y = Exp(d) }");
  model.mutable_graph()->mutable_node(0)->set_name("waves");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(model, {"x"}); }, "node 'waves' (DFT)", "no gradient rule");
}

TEST(DifferentiateTest, NodesWithoutRuleListsThoseOnThePathOnly) {
  onnx::ModelProto model = ParseModel(
      "(float[1,3,2] x, float[1,3,2] z) => (float[1,3,2] y) "
      "{ a = DFT(x) b = DFT(z) c = DFT(x) d = Add(a, b) y = Exp(d) }");
  GraphBuilder builder(model);
  const auto nodes =
      NodesWithoutRule(builder, {.output = "y", .output_gradient = "", .with_respect_to = {"x"}});
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].output(0), "a");
}

TEST(DifferentiateTest, ControlFlowOnThePathIsAnErrorEvenIfTheTensorIsCaptured) {
  onnx::ModelProto model = ParseModel(R"((float[N] x) => (float[N] y) {
    c = Constant<value = bool {1}>()
    y = If<then_branch = t () => (float[N] a) { a = Exp(x) }, else_branch = e () => (float[N] b) { b = Neg(x) }>(c) })");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(model, {"x"}); }, "(If)");
}

TEST(DifferentiateTest, ASequenceOnThePathIsAnErrorInsteadOfASilentZero) {
  onnx::ModelProto model = ParseModel(R"((float[N] x) => (float[M] y) {
    s = SequenceConstruct(x, x)
    c = ConcatFromSequence<axis = 0>(s)
    y = Exp(c) })");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(model, {"x"}); }, "(ConcatFromSequence)", "no gradient rule");
}

TEST(DifferentiateTest, DropoutInTrainingModeIsAnError) {
  onnx::ModelProto on =
      ParseModel("(float[N] x) => (float[N] y) <float r = {0.5}, bool t = {1}> { y = Dropout(x, r, t) }");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(on, {"x"}); }, "(Dropout)", "is in training mode");
  onnx::ModelProto open =
      ParseModel("(float[N] x, float r, bool t) => (float[N] y) { y = Dropout(x, r, t) }");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(open, {"x"}); }, "(Dropout)", "not a constant");
}

TEST(DifferentiateTest, WhatTheOutputDoesNotDependOnHasNoGradient) {
  onnx::ModelProto model = ParseModel("(float[N] x, float[N] z) => (float[N] y) { y = Exp(x) }");
  const int nodes = model.graph().node_size();
  EXPECT_EQ(GradientsOf(model, {"z"}).at("z"), "");
  EXPECT_EQ(model.graph().node_size(), nodes);
}

TEST(DifferentiateTest, NoWorkForGradientsNobodyAskedFor) {
  onnx::ModelProto model = ParseModel(
      "(float[N,3] x, float[3,3] w, float[3] b) => (float[N,3] y) { m = MatMul(x, w) y = Add(m, b) }");
  GradientsOf(model, {"b"});
  for (const auto& node : model.graph().node()) EXPECT_NE(node.op_type(), "Gemm");
}

TEST(DifferentiateTest, TheOutputItselfHasTheSeedAsGradient) {
  onnx::ModelProto model = ParseModel("(float[N] x, float[N] seed) => (float[N] y) { y = Exp(x) }");
  EXPECT_EQ(GradientsOf(model, {"y"}, "seed").at("y"), "seed");
}

TEST(DifferentiateTest, IntermediateTensorsHaveGradients) {
  onnx::ModelProto model = ParseModel("(float[N,3] x) => (float[N,3] y) { g = Sigmoid(x) y = Mul(x, g) }");
  const auto gradients = GradientsOf(model, {"x", "g"});
  model.mutable_graph()->clear_output();
  for (const auto& [tensor, gradient] : gradients) model.mutable_graph()->add_output()->set_name(gradient);
  const TestTensors result = TestSession(model).Run({{"x", {{1, 3}, {-1, 0.5, 2}}}});
  EXPECT_EQ(result.at(gradients.at("g")).values, (std::vector<double>{-1, 0.5, 2}));
}

TEST(DifferentiateTest, UnknownAndIntegerTensorsAreErrors) {
  onnx::ModelProto model = ParseModel("(float[N] x, int64[N] i) => (float[N] y) { y = Exp(x) }");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GradientsOf(model, {"nothing"}); }, "'nothing'");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GradientsOf(model, {"i"}); }, "'i'", "floating-point");
}

TEST(DifferentiateTest, OldOpsetsMustBeRaisedFirst) {
  onnx::ModelProto model = ParseModel("(float[N] x) => (float[N] y) { y = Exp(x) }", 12);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GradientsOf(model, {"x"}); }, "PrepareForDifferentiation");
}

TEST(DifferentiateTest, ARuleThatDoesNotCoverAUseSaysWhy) {
  onnx::ModelProto model =
      ParseModel("(float[N,3] x, int64[1] axes) => (float[N] y) { y = ReduceSum<keepdims = 0>(x, axes) }");
  ExpectError(
      ErrorCode::kBadModel, [&] { GradientsOf(model, {"x"}); }, "'y' (ReduceSum)", "must be a constant");
}

// Scattering with repeated indices must not depend on threads.
TEST(DifferentiateTest, GatherWithRepeatedIndicesAddsUp) {
  onnx::ModelProto model = ParseModel("(float[4,2] x, int64[N] i) => (float[N,2] y) { y = Gather(x, i) }");
  const auto gradients = GradientsOf(model, {"x"});
  model.mutable_graph()->mutable_output(0)->Clear();
  model.mutable_graph()->mutable_output(0)->set_name(gradients.at("x"));
  TestTensor indices{{100000}, {}};
  for (int i = 0; i < 100000; ++i) indices.values.push_back(i % 3);
  const TestTensors result =
      TestSession(model, true).Run({{"x", {{4, 2}, std::vector<double>(8, 1)}}, {"i", indices}});
  EXPECT_EQ(result.begin()->second.values,
            (std::vector<double>{33334, 33334, 33333, 33333, 33333, 33333, 0, 0}));
}

}  // namespace
}  // namespace ort_ed
