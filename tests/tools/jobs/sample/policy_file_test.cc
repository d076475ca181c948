// Policies of eb-gfn as proposals: of samples and of estimates of log Z.

#include "tools/jobs/sample/policy_file.h"

#include <gmock/gmock.h>

#include "tests/sampler/law_test.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/log_z/estimate_log_z.h"
#include "tools/jobs/sample/sample.h"
#include "trainer/policy/policy_learner.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4;

// A model, and a policy that has learned something of it, but not all.
class PolicyJobs : public ::testing::Test {
 protected:
  PolicyJobs() {
    WriteBytes(dir_.File("model.onnx"), MlpModel(kDimension, {8}));
    const LoadedModel model(dir_.File("model.onnx"));
    energies_.resize(size_t{1} << kDimension);
    model.energy_model().Energy(AllStates(kDimension), energies_);
    PolicyLearner learner({.policy_hidden = {16}, .policy_rate = 1e-2, .log_z_rate = 0.1},
                          {.dimension = kDimension, .threads = 1, .seed = 2});
    for (int64_t step = 1; step <= 30; ++step) {
      std::vector<RandomStream> random;
      for (uint64_t i = 0; i < 32; ++i) random.emplace_back(1, 2, step, i);
      const ConstructionPaths paths = BuildRows(learner.view(), random);
      std::vector<double> energies;
      for (int64_t i = 0; i < 32; ++i) {
        const std::vector<float> row(&paths.ends[i * kDimension], &paths.ends[i * kDimension] + kDimension);
        energies.push_back(energies_[StateNumber(row)]);
      }
      learner.Learn(paths, energies, step);
    }
    WriteBytes(dir_.File("policy.onnx"), learner.Deploy());
  }

  LoadedModel Model() const { return LoadedModel(dir_.File("model.onnx")); }
  SampleResult Draw(const SampleOptions& options, const SampleStart& start = {}) const {
    Observer observer;
    return Sample(Model(), start, options, {}, observer);
  }
  LogZResult Estimate(const OptionMap& options) const {
    Observer observer;
    return EstimateLogZ(Model(), {.estimator = {"policy", options}, .seed = 4}, nullptr, "", observer);
  }

  Law TheLaw(double beta) const {
    Law law;
    double total = 0;
    for (const float u : energies_) law.push_back(std::exp(-beta * u)), total += law.back();
    for (double& p : law) p /= total;
    return law;
  }

  TempDir dir_;
  std::vector<float> energies_;
};

TEST_F(PolicyJobs, SamplesFollowTheModel) {
  for (const auto& [variables, beta] : {std::pair(4, 1.0), std::pair(2, 1.0), std::pair(4, 2.0)}) {
    const SampleResult result = Draw({.samples = 5000,
                                      .steps = 30,
                                      .beta = beta,
                                      .policy = dir_.File("policy.onnx"),
                                      .policy_variables = variables});
    std::map<uint32_t, double> counts;
    for (size_t i = 0; i < result.rows.size(); i += kDimension)
      ++counts[StateNumber(std::vector<float>(&result.rows[i], &result.rows[i] + kDimension))];
    ExpectLaw(counts, TheLaw(beta), std::to_string(variables));
    EXPECT_GT(result.diagnostics.acceptance_rate, 0.3);
  }
}

TEST_F(PolicyJobs, EstimatesLogZ) {
  const LogZEstimate estimate =
      Estimate({{"policy", dir_.File("policy.onnx")}, {"proposals", 10000}}).estimate;
  double z = 0;
  for (const float u : energies_) z += std::exp(-double{u});
  EXPECT_NEAR(estimate.log_z, std::log(z), 5 * estimate.standard_error);
  EXPECT_LT(estimate.standard_error, 0.02);
  EXPECT_THAT(estimate.warning, testing::IsEmpty());
}

TEST_F(PolicyJobs, Refuse) {
  const std::string policy = dir_.File("policy.onnx");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Estimate({}); }, "policy", "policy.onnx");
  ExpectError(
      ErrorCode::kBadModel,
      [&] {
        Estimate({{"policy", dir_.File("model.onnx")}});
      },
      "model.onnx", "is no policy");
  ExpectError(
      ErrorCode::kIo, [&] { Draw({.policy = dir_.File("none.onnx")}); }, "none.onnx");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Draw({.sampler = "gwg", .policy = policy}); }, "sampler",
      "has no effect");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { PolicyFile(policy, 7, 1); }, "policy", "7 variables", "has 4");
  const SampleStart start{.states = {0, 0, 0, 0}, .clamped = {1, 0, 0, 0}, .rows = 1};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Draw({.policy = policy}, start); }, "can keep no variable");
}

}  // namespace
}  // namespace ort_ed
