#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/sample/sample.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kDimension = 4;

template <typename T>
struct RowsInMemory : RowWriter<T> {
  void Write(std::span<const T> more) override { values.insert(values.end(), more.begin(), more.end()); }
  void Commit() override { ADD_FAILURE() << "left to the caller"; }
  std::vector<T> values;
};

class SampleJob : public ::testing::Test {
 protected:
  SampleJob() {
    WriteBytes(dir_.File("linear.onnx"), LinearModel(kDimension));
    WriteBytes(dir_.File("mlp.onnx"), MlpModel(kDimension, {8}));
  }
  LoadedModel Mlp() const { return LoadedModel(dir_.File("mlp.onnx")); }
  SampleResult Draw(const LoadedModel& model, const SampleOptions& options) const {
    Observer observer;
    return Sample(model, {}, options, {}, observer);
  }

  TempDir dir_;
};

TEST_F(SampleJob, HoldsTheSamplesInMemory) {
  const SampleResult result = Draw(LoadedModel(dir_.File("linear.onnx")), {.samples = 2000, .steps = 20});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.samples, 2000);
  EXPECT_THAT(result.rows, SizeIs(2000 * kDimension));
  EXPECT_THAT(result.first_samples, SizeIs(SampleResult::kFirstSamples * kDimension));
  EXPECT_EQ(result.schedule.burn_in, 10);
  for (int i = 0; i < kDimension; ++i) {
    double ones = 0;
    for (int64_t row = 0; row < 2000; ++row) ones += result.rows[row * kDimension + i];
    EXPECT_NEAR(ones / 2000, 1 / (1 + std::exp(i + 1)), 0.05) << i;
  }
}

TEST_F(SampleJob, SeedDecides) {
  const auto rows = [&](uint64_t seed) {
    return Draw(Mlp(), {.samples = 30, .steps = 10, .seed = seed}).rows;
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
}

TEST_F(SampleJob, SinksTakeSamplesAndTrace) {
  RowsInMemory<uint8_t> samples;
  RowsInMemory<float> trace;
  Observer observer;
  const SampleOptions options = {.samples = 12, .steps = 10, .chains = 6, .seed = 3};
  const SampleResult result = Sample(Mlp(), {}, options, {.samples = &samples, .trace = &trace}, observer);
  EXPECT_THAT(trace.values, SizeIs(10 * 6));
  EXPECT_THAT(result.rows, IsEmpty());
  // However steps are divided into calls: with a trace one by one, without it many at once.
  EXPECT_EQ(samples.values, Draw(Mlp(), options).rows);
}

TEST_F(SampleJob, StoppedEarlyItHasWhatWasDrawn) {
  CountingObserver observer(20);
  const SampleResult result =
      Sample(Mlp(), {}, {.samples = 1000, .steps = 100, .chains = 10, .burn_in = 0, .thin = 1}, {}, observer);
  EXPECT_FALSE(result.complete);
  EXPECT_GT(result.samples, 0);
  EXPECT_LT(result.samples, 1000);
  EXPECT_THAT(result.rows, SizeIs(result.samples * kDimension));
}

TEST_F(SampleJob, AGuidedSamplerInsideTemperingHasItsGradient) {
  const SampleResult result =
      Draw(Mlp(), {.samples = 20, .steps = 10, .sampler = {"tempering", {{"inner", "gwg"}, {"flips", 2}}}});
  EXPECT_EQ(result.samples, 20);
}

// U = -40 (sum - 2)^2: chains stay where they start, all zeros or all ones.
TEST_F(SampleJob, WarnsOfChainsThatDoNotAgree) {
  WriteBytes(dir_.File("wells.onnx"), ModelFromText(R"(
    <ir_version: 8, opset_import: ["": 17]>
    wells (float[N, 4] x) => (float[N] energy) <int64[1] axes = {1}, float a = {2}, float b = {-40}> {
      s = ReduceSum<keepdims = 0>(x, axes) d = Sub(s, a) q = Mul(d, d) energy = Mul(q, b) })"));
  const SampleStart start{.states = {0, 0, 0, 0, 1, 1, 1, 1}, .rows = 2};
  CountingObserver observer;
  const SampleResult result =
      Sample(LoadedModel(dir_.File("wells.onnx")), start, {.samples = 10, .steps = 40}, {}, observer);
  EXPECT_THAT(result.warnings,
              ElementsAre(testing::HasSubstr(
                  "the chains do not agree yet: R-hat of 'variable 1', the worst variable, inf (limit")));
  EXPECT_EQ(observer.warnings, result.warnings);
  // Where every row has values of its own chains need not agree.
  SampleStart clamped = start;
  clamped.clamped = {1, 0, 0, 0, 1, 0, 0, 0};
  const SampleResult conditional =
      Sample(LoadedModel(dir_.File("wells.onnx")), clamped, {.samples = 10, .steps = 40}, {}, observer);
  EXPECT_TRUE(std::isnan(conditional.diagnostics.coordinate_r_hat));
  EXPECT_THAT(conditional.warnings, IsEmpty());
}

TEST(SampleSchedule, FollowsFromWhatIsGiven) {
  const SampleSchedule plain = MakeSchedule({}, {});
  EXPECT_EQ(plain.samples, 100);
  EXPECT_EQ(plain.chains, 100);
  EXPECT_EQ(plain.burn_in, 500);
  const SampleSchedule thinned = MakeSchedule({.samples = 40, .steps = 100, .chains = 10}, {});
  EXPECT_EQ(thinned.draws, 4);
  EXPECT_EQ(thinned.thin, 12);
  EXPECT_EQ(thinned.first(), 64);
  EXPECT_THROW(MakeSchedule({.samples = 40, .steps = 10, .chains = 1}, {}), OptionError);
  SampleStart clamped{.states = {1, 0}, .clamped = {1, 0}, .rows = 2};
  EXPECT_THROW(MakeSchedule({.chains = 1}, clamped), OptionError);
}

struct CountingSampler : Sampler {
  void Step(Chains& chains, int64_t steps) override {
    chains.step += static_cast<uint64_t>(steps);
    calls.push_back(steps);
  }
  std::vector<int64_t> calls;
};

TEST(AdvanceChains, TakesPortionsThatDouble) {
  CountingSampler sampler;
  Chains chains;
  Pace pace;
  int64_t heard = 0;
  const auto look = [&](int64_t steps) { return heard += steps, true; };
  EXPECT_TRUE(AdvanceChains(sampler, chains, 10, pace, look));
  EXPECT_THAT(sampler.calls, ElementsAre(1, 2, 4, 3));
  EXPECT_TRUE(AdvanceChains(sampler, chains, 20, pace, look));
  EXPECT_THAT(sampler.calls, ElementsAre(1, 2, 4, 3, 8, 12));
  EXPECT_EQ(heard, 30);
  EXPECT_EQ(chains.step, 30u);
}

TEST(AdvanceChains, StopsWhenTold) {
  CountingSampler sampler;
  Chains chains;
  Pace pace;
  EXPECT_FALSE(AdvanceChains(sampler, chains, 10, pace, [](int64_t) { return false; }));
  EXPECT_THAT(sampler.calls, ElementsAre(1));
}

}  // namespace
}  // namespace ort_ed
