// Policies of eb-gfn and aloe as proposals: of samples and of estimates of log Z.

#include "tools/jobs/sample/proposal.h"

#include <gmock/gmock.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "tests/sampler/law_test.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/log_z/estimate_log_z.h"
#include "tools/jobs/sample/sample.h"
#include "trainer/policy/edit_learner.h"
#include "trainer/policy/policy_learner.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4;

// A model, and policies that have learned something of it, but not all.
class PolicyJobs : public ::testing::Test {
 protected:
  PolicyJobs() {
    WriteBytes(dir_.File("model.onnx"), MlpModel(kDimension, {8}));
    const LoadedModel model(dir_.File("model.onnx"));
    energies_.resize(size_t{1} << kDimension);
    model.energy_model().Energy(AllStates(kDimension), energies_);
    TeachConstruction();
    TeachEdits();
  }

  static std::vector<RandomStream> Streams(int64_t step, uint64_t count) {
    std::vector<RandomStream> random;
    for (uint64_t i = 0; i < count; ++i) random.emplace_back(1, 2, step, i);
    return random;
  }

  void TeachConstruction() {
    PolicyLearner learner({.policy_hidden = {16}, .policy_rate = 1e-2, .log_z_rate = 0.1},
                          {.dimension = kDimension, .threads = 1, .seed = 2});
    for (int64_t step = 1; step <= 30; ++step) {
      std::vector<RandomStream> random = Streams(step, 32);
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

  // Another law than the model's, and edits that are as often as not.
  void TeachEdits() {
    EditLearner learner(
        {.q0_hidden = {16}, .editor_hidden = {16}, .max_edits = 3, .copies = 4, .policy_rate = 1e-2},
        {.dimension = kDimension, .threads = 1, .seed = 2});
    std::vector<uint8_t> rows;
    for (int i = 0; i < 64; ++i)
      for (int64_t k = 0; k < kDimension; ++k) rows.push_back((i % 5 * 3 >> k) & 1);
    for (int64_t step = 1; step <= 30; ++step) {
      std::vector<RandomStream> random = Streams(step, 64);
      learner.Learn(rows, random, step);
    }
    WriteBytes(dir_.File("aloe.onnx"), learner.Deploy());
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
  struct Case {
    const char* file;
    double beta;
    std::optional<int64_t> variables, copies;
  };
  for (const Case& c :
       {Case{"policy.onnx", 1, 4, {}}, Case{"policy.onnx", 1, 2, {}}, Case{"policy.onnx", 2, 4, {}},
        Case{"aloe.onnx", 1, {}, 1}, Case{"aloe.onnx", 1, {}, 3}, Case{"aloe.onnx", 2, {}, {}}}) {
    const SampleResult result = Draw({.samples = 5000,
                                      .steps = 30,
                                      .beta = c.beta,
                                      .policy = dir_.File(c.file),
                                      .policy_variables = c.variables,
                                      .policy_copies = c.copies});
    std::map<uint32_t, double> counts;
    for (size_t i = 0; i < result.rows.size(); i += kDimension)
      ++counts[StateNumber(std::vector<float>(&result.rows[i], &result.rows[i] + kDimension))];
    ExpectLaw(counts, TheLaw(c.beta), c.file);
    EXPECT_GT(result.diagnostics.acceptance_rate, 0.2) << c.file;
  }
}

TEST_F(PolicyJobs, EstimatesLogZ) {
  double z = 0;
  for (const float u : energies_) z += std::exp(-double{u});
  std::map<int64_t, double> errors;
  for (const auto& [file, copies] : {std::pair("policy.onnx", 0), {"aloe.onnx", 1}, {"aloe.onnx", 3}}) {
    OptionMap options = {{"policy", dir_.File(file)}, {"proposals", 20000}};
    if (copies > 0) options["policy_copies"] = int64_t{copies};
    const LogZEstimate estimate = Estimate(options).estimate;
    EXPECT_NEAR(estimate.log_z, std::log(z), 5 * estimate.standard_error) << file << copies;
    EXPECT_LT(estimate.standard_error, 0.03) << file << copies;
    EXPECT_THAT(estimate.warning, testing::IsEmpty());
    errors[copies] = estimate.standard_error;
  }
  EXPECT_LT(errors[3], errors[1]);
}

TEST_F(PolicyJobs, Refuse) {
  const std::string policy = dir_.File("policy.onnx"), aloe = dir_.File("aloe.onnx");
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
      ErrorCode::kInvalidArgument, [&] { OpenProposal(policy, 7, 1); }, "policy", "7 variables", "has 4");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Draw({.policy = policy, .policy_copies = 3}); }, "policy_copies",
      "has no effect");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Draw({.policy = aloe, .policy_variables = 3}); }, "policy_variables",
      "has no effect");
  const SampleStart start{.states = {0, 0, 0, 0}, .clamped = {1, 0, 0, 0}, .rows = 1};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Draw({.policy = policy}, start); }, "can keep no variable");
}

// A file may come from anywhere: one whose probabilities do not add up to 1 would give wrong results.
TEST_F(PolicyJobs, RefuseWhatIsNotNormalised) {
  onnx::ModelProto model = LoadModel(dir_.File("aloe.onnx"));
  SetMetadata(model, edit_policy::kMaxEdits, "many");
  WriteBytes(dir_.File("edits.onnx"), SerializeModel(model));
  ExpectError(
      ErrorCode::kBadModel, [&] { Draw({.policy = dir_.File("edits.onnx")}); }, "edits.onnx", "many");
  SetMetadata(model, edit_policy::kMaxEdits, "3");
  onnx::TensorProto& weight = *FindInitialiser(model, "q0.direct.weight");
  weight.clear_raw_data();
  weight.clear_float_data();
  for (int64_t i = 0; i < kDimension * kDimension; ++i) weight.add_float_data(0.5f);
  WriteBytes(dir_.File("order.onnx"), SerializeModel(model));
  ExpectError(
      ErrorCode::kBadModel, [&] { Draw({.policy = dir_.File("order.onnx")}); }, "order.onnx", "before it");
}

}  // namespace
}  // namespace ort_ed
