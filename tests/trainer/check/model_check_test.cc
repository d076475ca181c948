#include "trainer/check/model_check.h"

#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "trainer/graph/half_parameters.h"

namespace ort_ed {
namespace {

ModelCheck Check(const std::string& graph, int64_t opset = 17) {
  return CheckModel(ParseModel(graph, opset), "test", {.rows = 4, .seed = 1});
}

class BuiltInModels : public testing::TestWithParam<const char*> {};

TEST_P(BuiltInModels, Pass) {
  EnergySpec spec;
  spec.architecture = GetParam();
  spec.dimension = 64;
  if (spec.architecture.kind == "resnet")
    spec.image_shape = {8, 8}, spec.architecture.options["channels"] = "8";
  spec.seed = 2;
  spec.base_mean.assign(64, 0.25f);
  const ModelCheck check = CheckModel(BuildModel(spec), "test");
  EXPECT_TRUE(check.passed());
  EXPECT_EQ(check.dimension, 64);
  EXPECT_FALSE(check.gradients.empty());
  for (const auto& comparison : check.gradients) {
    EXPECT_EQ(comparison.verdict, GradientVerdict::kAgrees)
        << comparison.tensor << " " << comparison.relative_error;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, BuiltInModels, testing::Values("ising", "rbm", "mlp", "resnet"),
                         [](const auto& test) { return test.param; });

// A file may declare what it likes; gradients of [batch] against energies of [batch, 1] would be too many.
TEST(ModelCheckTest, TheRealShapeOfTheOutputCounts) {
  const auto check = [](const std::string& declared, int keep) {
    return Check("(float[batch,3] x) => (float" + declared +
                 " energy) <float[3] w = {0.31, -0.72, 1.13}, int64[1] axes = {1}, int64[2] s = {-1, 3}> {"
                 " y = Reshape(x, s) p = Mul(y, w) energy = ReduceSum<keepdims = " +
                 std::to_string(keep) + ">(p, axes) }");
  };
  EXPECT_TRUE(check("[batch]", 0).passed());
  EXPECT_TRUE(check("[batch,1]", 1).passed());
  for (const auto& [declared, keep] : {std::pair("[batch]", 1), std::pair("[batch,1]", 0)}) {
    try {
      const ModelCheck result = check(declared, keep);
      for (const auto& comparison : result.gradients)
        EXPECT_NE(comparison.verdict, GradientVerdict::kDiffers) << declared;
    } catch (const Error& error) {  // ONNX Runtime may refuse it
      EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    }
  }
}

// Rows whose first value is 0 have no energy once x is moved: fewer energies than rows are no energies.
TEST(ModelCheckTest, AsManyEnergiesAsRowsAreNeededEverywhere) {
  const ModelCheck check = Check(R"((float[batch,3] x) => (float[n] energy)
      <float[3] w = {0.31, -0.72, 1.13}, int64[1] axes = {1}, float limit = {1.00001}> {
      p = Mul(x, w) e = ReduceSum<keepdims = 0>(p, axes)
      largest = ReduceMax<axes = [1], keepdims = 0>(x) few = Less(largest, limit)
      energy = Compress<axis = 0>(e, few) })");
  EXPECT_FALSE(check.passed());
}

TEST(ModelCheckTest, ListsNodesWithoutARule) {
  const ModelCheck check = Check(R"((float[batch,8] x) => (float[batch] energy) <float[2,2] w = {1,2,3,5}> {
      s = Constant<value_ints = [-1, 4, 2]>() m = Reshape(x, s) p = MatMul(m, w) f = DFT(p)
      a = Constant<value_ints = [1, 2]>() energy = ReduceSum<keepdims = 0>(f, a) })");
  EXPECT_FALSE(check.passed());
  ASSERT_EQ(check.missing_rules.size(), 1u);
  EXPECT_EQ(check.missing_rules[0].op, "DFT");
  EXPECT_EQ(check.missing_rules[0].node, "f");
}

TEST(ModelCheckTest, AWrongGradientIsFound) {
  // Round has the derivative 0 wherever it exists; with a fine grid the differences see its slope of 1.
  const ModelCheck check =
      Check(R"((float[batch,3] x) => (float[batch] energy) <float[3] w = {0.31, -0.72, 1.13}> {
      axes = Constant<value_ints = [1]>() fine = Constant<value_float = 10000000000.0>()
      p = Mul(x, w) q = Mul(p, fine) r = Round(q) t = Div(r, fine) u = Add(t, p)
      energy = ReduceSum<keepdims = 0>(u, axes) })");
  EXPECT_FALSE(check.passed());
  for (const auto& comparison : check.gradients) EXPECT_EQ(comparison.verdict, GradientVerdict::kDiffers);
}

// A network whose exporter stored a number of the program as an initialiser.
constexpr char kWithConstants[] = R"((float[batch,3] x) => (float[batch] energy)
    <float[3] w = {0.31, -0.72, 1.13}, float[3] v = {0.2, 0.4, -0.7}, float scale = {0.125}> {
    a = Mul(x, w) b = Mul(a, scale) c = Tanh(b) energy = MatMul(c, v) })";

std::vector<std::string> ComparedTensors(const ModelCheckOptions& options) {
  std::vector<std::string> names;
  for (const auto& comparison : CheckModel(ParseModel(kWithConstants), "test", options).gradients)
    names.push_back(comparison.tensor);
  return names;
}

TEST(ModelCheckTest, ConstantsAreNotTrainedUnlessSomebodySaysSo) {
  const ModelCheck check = CheckModel(ParseModel(kWithConstants), "test");
  EXPECT_TRUE(check.passed());
  ASSERT_EQ(check.roles.buffers.size(), 1u);
  EXPECT_EQ(check.roles.buffers[0].name, "scale");
  EXPECT_EQ(ComparedTensors({}), (std::vector<std::string>{"v", "w", "x"}));
  EXPECT_EQ(ComparedTensors({.trainable = {"sc*"}}), (std::vector<std::string>{"scale", "v", "w", "x"}));
  EXPECT_EQ(ComparedTensors({.frozen = {"v"}}), (std::vector<std::string>{"w", "x"}));
  for (const auto& options : {ModelCheckOptions{.frozen = {"u"}}, ModelCheckOptions{.trainable = {"u"}}})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { ComparedTensors(options); }, "there are w, v, scale");
}

// Bits are on the edge of where x^1.5 is defined; a little above it the gradient is compared.
TEST(ModelCheckTest, PowersOfBitsAreNoError) {
  const ModelCheck check = Check(R"((float[batch,3] x) => (float[batch] energy)
      <float[3] w = {0.31, -0.72, 1.13}, float[3] p = {1.5, 2.5, 3.5}> {
      q = Pow(x, p) energy = MatMul(q, w) })");
  EXPECT_TRUE(check.passed());
  for (const auto& comparison : check.gradients)
    EXPECT_EQ(comparison.verdict, GradientVerdict::kAgrees) << comparison.tensor;
}

// Differences of numbers that are rounded to three digits say little; they are taken in double precision.
TEST(ModelCheckTest, HalfPrecisionIsNoError) {
  for (const int type : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    onnx::ModelProto model = ParseModel(
        "(float[batch,4] x) => (float[batch] energy) <float[4,3] w = {0.31, -0.72, 1.13, 0.2, 0.4, -0.7, "
        "-0.3, 0.1, 0.6, 0.9, -0.2, 0.5}, float[3] v = {0.8, -0.6, 0.3}> { narrow = Cast<to = " +
        std::to_string(type) +
        ">(w) wide = Cast<to = 1>(narrow) h = MatMul(x, wide) t = Tanh(h) energy = MatMul(t, v) }");
    model.mutable_graph()->mutable_node(0)->set_name("ort_ed_widened/w");
    NarrowParameters(model);
    const ModelCheck check = CheckModel(model, "test");
    EXPECT_TRUE(check.passed());
    ASSERT_EQ(check.gradients.size(), 3u);
    for (const auto& comparison : check.gradients)
      EXPECT_EQ(comparison.verdict, GradientVerdict::kAgrees) << comparison.tensor;
  }
}

// Half of the pre-activations are exactly 0, where differences and gradients need not agree. `wrong` is
// nothing, or adds a slope that the gradient does not see.
std::string NetOnKinks(const std::string& wrong) {
  return R"((float[batch,4] x) => (float[batch] energy)
      <float[4,8] w = {0.5, 0,   0,    0.75, 0, -0.25, 1, 0,   0, -1,   0.5, 0, 0.25, 0, 0, 0.5,
                       0,   0.5, -0.5, 0,    0, 1,     0, 0.75, -1, 0,   0,   0.5, 0, 0, 0.25, 0},
       float[8] b = {0, 0, 0, 0, 0, 0, 0, 0}, float[8] v = {1, -1, 0.5, 1, -0.5, 1, 1, -1}> {
      fine = Constant<value_float = 10000000000.0>() h = MatMul(x, w) z = Add(h, b) r = Relu(z) )" +
         wrong + " energy = MatMul(t, v) }";
}

TEST(ModelCheckTest, KinksAreNoErrors) {
  const onnx::ModelProto model = ParseModel(NetOnKinks("t = Identity(r)"));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ModelCheck check = CheckModel(model, "test", {.rows = 4, .seed = seed});
    EXPECT_EQ(check.gradients.size(), 4u);
    for (const auto& comparison : check.gradients) {
      EXPECT_EQ(comparison.verdict, GradientVerdict::kAgrees) << comparison.tensor << ", seed " << seed;
    }
  }
}

TEST(ModelCheckTest, AWrongGradientIsFoundAmongKinks) {
  const onnx::ModelProto model =
      ParseModel(NetOnKinks("q = Mul(r, fine) n = Round(q) s = Div(n, fine) t = Add(s, r)"));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ModelCheck check = CheckModel(model, "test", {.rows = 4, .seed = seed});
    EXPECT_FALSE(check.passed()) << "seed " << seed;
    for (const auto& comparison : check.gradients) {
      const bool behind = comparison.tensor == "v";  // the only one that is right
      EXPECT_EQ(comparison.verdict, behind ? GradientVerdict::kAgrees : GradientVerdict::kDiffers)
          << comparison.tensor << ", seed " << seed;
    }
  }
}

TEST(ModelCheckTest, TiesOfAMaximumAreNoErrors) {
  const onnx::ModelProto model = ParseModel(R"((float[batch,8] x) => (float[batch] energy)
      <float[4] w = {0.3, -0.7, 1.1, 0.4}> {
      s = Constant<value_ints = [-1, 1, 8]>() i = Reshape(x, s)
      p = MaxPool<kernel_shape = [2], strides = [2]>(i)
      f = Flatten(p) energy = MatMul(f, w) })");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ModelCheck check = CheckModel(model, "test", {.rows = 4, .seed = seed});
    EXPECT_TRUE(check.passed()) << "seed " << seed;
  }
}

// The energy does not depend on a bias before a normalisation: what rounding leaves of its gradient is no
// error.
TEST(ModelCheckTest, RoundingOfAGradientOfZeroIsNoError) {
  const onnx::ModelProto model = ParseModel(R"((float[batch,6] x) => (float[batch] energy)
      <float c = {0.7}, float[6] w = {0.31, -0.72, 1.13, 0.4, -0.9, 0.2},
       float[6] g = {1.1, 0.7, 0.9, 1.3, 0.8, 1.2}> {
      m = Mul(x, w) h = Add(m, c) n = LayerNormalization(h, g) a = Sigmoid(n) energy = MatMul(a, w) })");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ModelCheck check = CheckModel(model, "test", {.rows = 4, .seed = seed});
    EXPECT_TRUE(check.passed()) << "seed " << seed;
  }
}

TEST(ModelCheckTest, RoundingIsNoErrorWhereAllGradientsAreZero) {
  const onnx::ModelProto model = ParseModel(R"((float[batch,4] x) => (float[batch] energy)
      <float[4] w = {0.31, -0.72, 1.13, 0.4}> {
      a = Constant<value_ints = [1]>() h = Mul(x, w) s = Softmax(h) energy = ReduceSum<keepdims = 0>(s, a) })");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ModelCheck check = CheckModel(model, "test", {.rows = 4, .seed = seed});
    EXPECT_TRUE(check.passed()) << "seed " << seed;
  }
}

// A gradient a thousand times smaller than the largest one is still compared.
TEST(ModelCheckTest, ASmallWrongGradientIsFound) {
  const ModelCheck check = Check(
      R"((float[batch,3] x) => (float[batch] energy) <float[3] w = {0.31, -0.72, 1.13}, float[3] u = {1,2,3}> {
      fine = Constant<value_float = 10000000000.0>() small = Constant<value_float = 0.001>()
      q = Mul(u, fine) r = Round(q) s = Div(r, fine) t = Add(s, u) v = Mul(t, small) z = Add(v, w)
      energy = MatMul(x, z) })");
  for (const auto& comparison : check.gradients) {
    const auto expected = comparison.tensor == "u" ? GradientVerdict::kDiffers : GradientVerdict::kAgrees;
    EXPECT_EQ(comparison.verdict, expected) << comparison.tensor;
  }
}

TEST(ModelCheckTest, RowsThatDependOnTheirBatchAreAProblem) {
  const ModelCheck check =
      Check(R"((float[batch,3] x) => (float[batch] energy) <float[3] w = {0.3, -0.7, 1.1}> {
      e = MatMul(x, w) energy = Softmax<axis = 0>(e) })");
  EXPECT_FALSE(check.passed());
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_NE(check.problems[0].find("other rows"), std::string::npos);
}

TEST(ModelCheckTest, EnergiesThatAreNotFiniteAreAProblem) {
  const ModelCheck check = Check(R"((float[batch,2] x) => (float[batch] energy) <float[2] w = {0.3, -0.7}> {
      l = Log(x) energy = MatMul(l, w) })");
  EXPECT_FALSE(check.passed());
}

TEST(ModelCheckTest, OneEnergyARow) {
  const ModelCheck check =
      Check(R"((float[batch,2] x) => (float[batch,1] energy) <float[2,1] w = {0.3, -0.7}> {
      energy = MatMul(x, w) })");
  EXPECT_TRUE(check.passed());
  EXPECT_EQ(check.remarks.size(), 1u);
}

TEST(ModelCheckTest, TensorsWithoutInfluenceAreShown) {
  const ModelCheck check = Check(R"((float[batch,2] x) => (float[batch] energy)
      <float[2] w = {0.3, -0.7}, float[2] u = {1.0, 2.0}> { dead = Mul(x, u) energy = MatMul(x, w) })");
  EXPECT_TRUE(check.passed());
  int without = 0;
  for (const auto& comparison : check.gradients) without += !comparison.influences;
  EXPECT_EQ(without, 1);
}

TEST(ModelCheckTest, AModelWithoutParametersCannotBeTrained) {
  const ModelCheck check = Check(R"((float[batch,2] x) => (float[batch] energy) {
      axes = Constant<value_ints = [1]>() energy = ReduceSum<keepdims = 0>(x, axes) })");
  EXPECT_FALSE(check.trainable());
  EXPECT_FALSE(check.passed());
  EXPECT_TRUE(check.has_input_gradient());
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_NE(check.problems[0].find("nothing to train"), std::string::npos) << check.problems[0];
}

TEST(ModelCheckTest, TrainingNeedsNoInputGradient) {
  const ModelCheck check = Check(R"((float[batch,4] x) => (float[batch] energy) <float[1] w = {0.3}> {
      s = Constant<value_ints = [-1, 2, 2]>() m = Reshape(x, s) f = DFT(m)
      a = Constant<value_ints = [1, 2]>() d = ReduceSum<keepdims = 0>(f, a) energy = Mul(d, w) })");
  EXPECT_TRUE(check.trainable());
  EXPECT_TRUE(check.passed());
  EXPECT_FALSE(check.has_input_gradient());
  EXPECT_TRUE(check.missing_rules.empty());
  ASSERT_EQ(check.missing_input_rules.size(), 1u);
  EXPECT_EQ(check.missing_input_rules[0].op, "DFT");
  ASSERT_EQ(check.gradients.size(), 1u);
  EXPECT_EQ(check.gradients[0].tensor, "w");
}

TEST(ModelCheckTest, ARuleThatDoesNotCoverAUseIsAProblem) {
  const ModelCheck check = Check(R"((float[batch,4] x) => (float[batch] energy)
      <float[4] w = {1,2,3,4}, float[8] roi = {0,0,0,0,1,1,1,1}, float[4] scales = {1,1,2,2}> {
      h = Mul(x, w) s = Constant<value_ints = [-1, 1, 2, 2]>() i = Reshape(h, s)
      r = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(i, roi, scales)
      a = Constant<value_ints = [1, 2, 3]>() energy = ReduceSum<keepdims = 0>(r, a) })");
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_NE(check.problems[0].find("cropped"), std::string::npos) << check.problems[0];
}

TEST(ModelCheckTest, ABrokenContractIsAnError) {
  ExpectError(
      ErrorCode::kBadModel,
      [] { Check("(float[batch,N] x) => (float[batch] energy) { energy = ReduceSum(x) }"); }, "test");
}

}  // namespace
}  // namespace ort_ed
