#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/model_file.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tools/jobs/check.h"
#include "tools/jobs/inspect.h"
#include "tools/jobs/quadratic_couplings.h"

namespace ort_ed {
namespace {

LoadedModel FromText(const std::string& text) {
  const std::string model = "<ir_version: 8, opset_import: [\"\" : 17]>\n" + text;
  return {ParseModel(ModelFromText(model), "test"), "in memory"};
}

// U = -3 s0 s1.
constexpr char kPair[] = R"(
    g (float[n, 2] x) => (float[n] energy) <float[2, 2] J = {0, 1.5, 1.5, 0}> {
      two = Constant <value_float = 2.0> ()
      one = Constant <value_float = 1.0> ()
      double = Mul (x, two)
      s = Sub (double, one)
      js = MatMul (s, J)
      products = Mul (s, js)
      axes = Constant <value = int64[1] {1}> ()
      sum = ReduceSum <keepdims = 0> (products, axes)
      energy = Neg (sum)
    })";

TEST(Inspect, TellsOfAModelInMemory) {
  const InspectResult result = Inspect(FromText(kPair));
  EXPECT_EQ(result.summary.contract.dimension, 2);
  EXPECT_EQ(result.summary.ParameterCount(), 4);
  ASSERT_EQ(result.differentiability.size(), result.summary.operators.size());
  for (size_t i = 0; i < result.summary.operators.size(); ++i) {
    const bool constant = result.summary.operators[i].op == "Constant";
    EXPECT_EQ(result.differentiability[i], constant ? Differentiability::kLeaf : Differentiability::kRule)
        << result.summary.operators[i].op;
  }
  // Mul twice, Sub and MatMul, the sum of 2 and its sign.
  EXPECT_EQ(result.summary.FlopsPerRow(), 2 + 2 + 8 + 2 + 2 + 1);
}

TEST(Inspect, RefusesWhatIsNoEnergyModel) {
  ExpectError(
      ErrorCode::kBadModel,
      [] { Inspect(FromText("g (float[n, d] x) => (float[n] energy) { energy = Neg (x) }")); }, "in memory",
      "must be fixed");
}

TEST(QuadraticCouplings, OfAModelInMemory) {
  Observer nobody;
  EXPECT_THAT(QuadraticCouplings(FromText(kPair), nobody),
              testing::ElementsAre(0, testing::DoubleNear(1.5, 1e-6), testing::DoubleNear(1.5, 1e-6), 0));
}

TEST(Check, OfAModelInMemory) {
  struct Counter : Observer {
    void OnWork(const Work& work) override { last = work; }
    Work last;
  } counter;
  const CheckResult result = Check(FromText(kPair), {.rows = 3, .seed = 1}, counter);
  EXPECT_TRUE(result.check.passed());
  EXPECT_EQ(result.check.dimension, 2);
  EXPECT_EQ(counter.last.done, counter.last.total);
  EXPECT_EQ(counter.last.unit, "tensors");
}

}  // namespace
}  // namespace ort_ed
