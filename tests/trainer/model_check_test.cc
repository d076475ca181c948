#include "trainer/model_check.h"

#include <gtest/gtest.h>

#include "models/energy_spec.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"

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
  if (spec.architecture == "resnet") spec.image_shape = {8, 8}, spec.options["channels"] = "8";
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

TEST(ModelCheckTest, ListsNodesWithoutARule) {
  const ModelCheck check =
      Check(R"((float[batch,9] x) => (float[batch] energy) <float[3,3] w = {1,2,3,4,5,6,7,8,10}> {
      s = Constant<value_ints = [-1, 3, 3]>() m = Reshape(x, s) p = MatMul(m, w) energy = Det(p) })");
  EXPECT_FALSE(check.passed());
  ASSERT_EQ(check.missing_rules.size(), 1u);
  EXPECT_EQ(check.missing_rules[0].op, "Det");
  EXPECT_EQ(check.missing_rules[0].node, "energy");
}

TEST(ModelCheckTest, AWrongGradientIsFound) {
  // Round has the derivative 0 wherever it exists; with a fine grid the differences see its slope of 1.
  const ModelCheck check =
      Check(R"((float[batch,3] x) => (float[batch] energy) <float[3] w = {0.31, -0.72, 1.13}> {
      axes = Constant<value_ints = [1]>() fine = Constant<value_float = 10000000.0>()
      p = Mul(x, w) q = Mul(p, fine) r = Round(q) t = Div(r, fine) u = Add(t, p)
      energy = ReduceSum<keepdims = 0>(u, axes) })");
  EXPECT_FALSE(check.passed());
  for (const auto& comparison : check.gradients) EXPECT_EQ(comparison.verdict, GradientVerdict::kDiffers);
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

TEST(ModelCheckTest, ARuleThatDoesNotCoverAUseIsAProblem) {
  const ModelCheck check =
      Check(R"((float[batch,3] x) => (float[batch] energy) <float[3] w = {1,2,3}, float[3] s = {1,1,1}> {
      h = Mul(x, w) n, mean = LayerNormalization(h, s) a = Constant<value_ints = [1]>()
      energy = Squeeze(mean, a) })");
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_NE(check.problems[0].find("mean and deviation"), std::string::npos) << check.problems[0];
}

TEST(ModelCheckTest, ABrokenContractIsAnError) {
  ExpectError(
      ErrorCode::kBadModel,
      [] { Check("(float[batch,N] x) => (float[batch] energy) { energy = ReduceSum(x) }"); }, "test");
}

}  // namespace
}  // namespace ort_ed
