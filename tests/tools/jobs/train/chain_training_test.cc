// Trainings by contrastive divergence: what they learn, that they can be cut and resumed, what they refuse.

#include <cmath>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/tools/jobs/train/law_training.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/run_setup.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

struct MethodCase {
  const char* name;
  Choice model, method;
};

class LearnsTheLaw : public testing::TestWithParam<MethodCase> {};

// The maximum of the likelihood is k / 2N from the truth on average, for k parameters that matter and N rows:
// 36 / 40000 = 0.001 for ising, at most 255 / 40000 = 0.006 for any model of 8 bits. What the noise of
// the chains adds on top is held to five times the latter.
TEST_P(LearnsTheLaw, ByPersistentChains) {
  TrainOptions options = Options(GetParam().model, GetParam().method);
  options.run.steps = 1;
  const double at_first = Divergence(Fit(options).model);
  options.run.steps = 1500;
  const TrainResult result = Fit(options);
  const double divergence = Divergence(result.model);
  RecordProperty("divergence", std::to_string(divergence));
  EXPECT_GT(at_first, 0.15);
  EXPECT_LT(divergence, 0.03);
  EXPECT_LT(divergence, at_first / 5);
  EXPECT_LT(result.best.loss(), 0.45);
}

INSTANTIATE_TEST_SUITE_P(
    Samplers, LearnsTheLaw,
    testing::Values(
        MethodCase{"ising_gibbs", kIsing, {"pcd", {{"buffer", 1000}}}},
        MethodCase{"ising_gwg", kIsing, {"pcd", {{"sampler", "gwg"}, {"chain_steps", 10}, {"buffer", 1000}}}},
        MethodCase{"mlp_gibbs", kMlp, {"pcd", {{"buffer", 1000}}}},
        MethodCase{"mlp_gwg", kMlp, {"pcd", {{"sampler", "gwg"}, {"chain_steps", 10}, {"buffer", 1000}}}},
        MethodCase{
            "mlp_dmala",
            kMlp,
            {"pcd",
             {{"sampler", "dmala"}, {"chain_steps", 10}, {"sampler_step_size", 0.5}, {"buffer", 1000}}}},
        MethodCase{"ising_tempering",
                   kIsing,
                   {"pcd", {{"sampler", "tempering"}, {"sampler_temperatures", 3}, {"buffer", 256}}}},
        MethodCase{"mlp_cd", kMlp, {"cd", {{"chain_steps", 3}}}},
        MethodCase{"ising_restart", kIsing, {"pcd", {{"restart", 0.05}, {"chain_steps", 3}}}}),
    [](const auto& test) { return test.param.name; });

TEST(ChainTraining, OneStepFromTheDataLearnsMuchOfTheLaw) {
  TrainOptions options = Options(kIsing, "cd");
  options.run.steps = 1;
  const double at_first = Divergence(Fit(options).model);
  options.run.steps = 1500;
  EXPECT_LT(Divergence(Fit(options).model), at_first / 3);
}

TEST(ChainTraining, PenaltyKeepsEnergiesNearZero) {
  TrainOptions options = Options(kMlp, {"pcd", {{"buffer", 1000}}});
  options.network.base = "none";
  options.run.steps = 200;
  options.objective.options["energy_l2"] = 1.0;
  const auto largest = [](const TrainResult& result) {
    std::vector<float> energies(Truth().size());
    LoadedModel(result.model, "trained").energy_model().Energy(AllStates(kDimension), energies);
    return std::abs(*std::ranges::max_element(energies, {}, [](float u) { return std::abs(u); }));
  };
  const float with = largest(Fit(options));
  options.objective = "contrastive-divergence";
  EXPECT_LT(with, 0.7f * largest(Fit(options)));
}

using ChainRun = LawRun;

TEST_F(ChainRun, GoesOnBitForBit) {
  const Choice tempered = {
      "pcd",
      {{"sampler", "tempering"}, {"sampler_inner", "gwg"}, {"sampler_temperatures", 3}, {"chain_steps", 2}}};
  const std::vector<std::pair<Choice, Choice>> cases = {
      {kMlp, "pcd"}, {kIsing, {"pcd", {{"restart", 0.3}, {"buffer", 50}}}}, {kMlp, tempered}, {kMlp, "cd"}};
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string whole = "whole" + std::to_string(i), cut = "cut" + std::to_string(i);
    const TrainOptions options = Small(cases[i].first, cases[i].second);
    TrainInFolder(options, dir_.File(whole), ExistingRun::kRefuse, quiet_);
    Stopper stopper(5);
    EXPECT_FALSE(TrainInFolder(options, dir_.File(cut), ExistingRun::kRefuse, stopper).complete);
    TrainOptions again;
    ReadRunOptions(dir_.File(cut)).ApplyTo(again);  // the configuration tells everything
    EXPECT_TRUE(ResumeInFolder(again, dir_.File(cut), quiet_).complete);
    EXPECT_TRUE(Checkpoint(cut) == Checkpoint(whole));
    EXPECT_TRUE(ReadBytes(dir_.File(cut + "/model.onnx")) == ReadBytes(dir_.File(whole + "/model.onnx")));
  }
}

TEST_F(ChainRun, ACheckpointHoldsTheBuffer) {
  TrainInFolder(Small(kMlp, {"pcd", {{"buffer", 40}}}), dir_.File("run"), ExistingRun::kRefuse, quiet_);
  const auto state = ReadCheckpoint(dir_.File("run/checkpoints/step-12.ckpt")).SelectTensors("negatives");
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state[0].shape, (std::vector<int64_t>{40, kDimension}));
  EXPECT_EQ(state[0].octets.size(), 40u * kDimension);
}

TEST_F(ChainRun, EveryNetworkTrainsWithEverySampler) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(kDimension, {6}));
  for (const Choice& model : {kMlp, kIsing, Choice("rbm", {{"hidden", 4}}),
                              Choice("resnet", {{"channels", 4}}), Choice(dir_.File("mine.onnx"))})
    for (const SamplerKind* sampler : Samplers()) {
      if (sampler->needs_autoregressive_base) continue;
      SCOPED_TRACE(model.kind + " " + sampler->name);
      TrainOptions options = Small(model, {"pcd", {{"sampler", sampler->name}, {"chain_steps", 2}}});
      options.run.steps = 3;
      if (model.kind == "resnet") options.network.image_shape = "2x4";
      const TrainResult result = Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_);
      EXPECT_TRUE(result.complete);
      EXPECT_TRUE(std::isfinite(Divergence(result.model)));
    }
}

TEST_F(ChainRun, DoesNotDependOnThreads) {
  std::string models[2];
  for (const int threads : {1, 2}) {
    TrainOptions options = Small(kIsing, {"pcd", {{"buffer", 100}}});
    options.run.threads = threads;
    models[threads - 1] =
        Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_).model.SerializeAsString();
  }
  EXPECT_TRUE(models[0] == models[1]);
}

TEST_F(ChainRun, ModelsTellHowTheyWereTrained) {
  const TrainOptions options = Small(kMlp, {"pcd", {{"sampler", "gwg"}, {"sampler_flips", 2}}});
  const TrainResult result = Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_);
  const auto json = nlohmann::json::parse(GetMetadata(result.model, metadata_key::kTraining));
  EXPECT_EQ(json.at("method"), "pcd");
  EXPECT_EQ(json.at("objective"), "contrastive-divergence");
  EXPECT_EQ(json.at("sampler"), "gwg");
  EXPECT_EQ(json.at("chain_steps"), 40);
  EXPECT_EQ(json.at("buffer"), 10000);
  EXPECT_EQ(json.at("energy_l2"), 0);
  EXPECT_FALSE(json.contains("w"));
}

// Validation is the energy discrepancy of bernoulli noise, the same number that such a training reports.
TEST_F(ChainRun, ValidationCanBeComparedWithThatOfEnergyDiscrepancy) {
  TrainOptions options = Small(kMlp, {"pcd", {{"validation_epsilon", 0.2}}});
  options.optimizer.learning_rate = 1e-9;  // the same model
  options.run.steps = 6;
  const auto loss = [&] {
    return *Train(options, DatasetFromRows(DrawnRows(300), options.data, 0), quiet_).validation_loss;
  };
  const double chains = loss();
  options.contrast.method = {"bernoulli", {{"epsilon", 0.2}}};
  EXPECT_NEAR(chains, loss(), 1e-5);
}

TEST_F(ChainRun, RefusesBeforeAnythingIsWritten) {
  const auto refuses = [&](const TrainOptions& options, const std::string& key, const auto&... parts) {
    const auto train = [&] { TrainInFolder(options, dir_.File("run"), ExistingRun::kRefuse, quiet_); };
    ExpectError(ErrorCode::kInvalidArgument, train, key, parts...);
    EXPECT_FALSE(fs::exists(dir_.File("run")));
  };
  TrainOptions options = Small(kMlp, "pcd");
  options.objective = "energy-discrepancy";
  refuses(options, "objective", "must be contrastive-divergence with method pcd");
  options = Small(kMlp, "bernoulli");
  options.objective = "contrastive-divergence";
  refuses(options, "objective", "must be energy-discrepancy with method bernoulli");
  options = Small(kMlp, "pcd");
  options.objective.options["w"] = 1.0;
  refuses(options, "w has no effect with objective contrastive-divergence of method pcd");
  options = Small(kMlp, "bernoulli");
  options.objective.options["energy_l2"] = 0.1;
  refuses(options, "energy_l2 has no effect");
  options = Small(kMlp, "pcd");
  options.objective.options["energy_l2"] = -1.0;
  refuses(options, "energy_l2", "[0, inf)");
  refuses(Small(kMlp, {"pcd", {{"buffer", 15}}}), "buffer", "16");
  refuses(Small(kMlp, {"pcd", {{"sampler_flips", 2}}}), "sampler_flips");

  // One operator is without slope, the other without a rule.
  const std::map<std::string, std::string> nodes = {
      {"noise", "r = Round(x)"},
      {"DFT", "pairs = Reshape(x, in_pairs) waves = DFT(pairs) r = Reshape(waves, in_rows)"}};
  for (const auto& [problem, text] : nodes) {
    WriteBytes(dir_.File("mine.onnx"), ModelFromText(R"(
      <ir_version: 8, opset_import: ["": 17]>
      g (float[batch, 8] x) => (float[batch] energy)
      <float[8, 1] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, int64[1] axis = {1},
       int64[3] in_pairs = {-1, 4, 2}, int64[2] in_rows = {-1, 8}> {
        )" + text + R"(
        column = MatMul(r, w)
        energy = Squeeze(column, axis)
      })"));
    const Choice file(dir_.File("mine.onnx"));
    refuses(Small(file, {"pcd", {{"sampler", "dula"}}}), "the gradient", problem);
    EXPECT_TRUE(TrainInFolder(Small(file, "pcd"), dir_.File(problem), ExistingRun::kRefuse, quiet_).complete);
  }
}

TEST_F(ChainRun, DivergenceIsMetWithAdvice) {
  TrainOptions options = Small(kMlp, "pcd");
  options.optimizer.learning_rate = 1e4;
  options.optimizer.clip = 0;
  options.run.steps = 1000;
  ExpectError(
      ErrorCode::kRuntime, [&] { Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_); },
      "diverged", "learning_rate 2e+03", "chain_steps 5", "energy_l2 0.1");
}

}  // namespace
}  // namespace ort_ed
