// Trainings whose negatives come from a network that learns beside the energy.

#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tests/support/error_matchers.h"
#include "tests/tools/jobs/train/law_training.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/metrics.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

Choice EbGfn(const OptionMap& more = {}) {
  OptionMap options = {{"policy_hidden", "64,64"}, {"policy_rate", 3e-3}, {"log_z_rate", 0.1}};
  for (const auto& [key, value] : more) options[key] = value;
  return {"eb-gfn", options};
}

Choice Aloe() { return {"aloe", {{"q0_hidden", "32"}, {"editor_hidden", "32"}, {"policy_rate", 3e-3}}}; }

// As for the other trainings by samples of the model (chain_training_test.cc). The law's modes are less deep:
// how well a policy of this size knows deep ones is not what is tested here.
TEST(PolicyTraining, LearnsTheLaw) {
  const Law truth = TruthWith(0.3);
  for (const Choice& method : {EbGfn({{"acceptance", "metropolis"}, {"growth", 0.5}}),
                               EbGfn({{"acceptance", "barker"}, {"growth", 0.5}}), Aloe()}) {
    TrainOptions options = Options(kMlp, method);
    options.batch.batch_size = 64;
    options.run.steps = 1;
    const double at_first = Divergence(Fit(options, truth).model, truth);
    options.run.steps = 700;
    const double divergence = Divergence(Fit(options, truth).model, truth);
    EXPECT_GT(at_first, 0.15);
    EXPECT_LT(divergence, 0.03) << method.kind;
  }
}

using PolicyRun = LawRun;

TEST_F(PolicyRun, GoesOnBitForBit) {
  struct Case {
    Choice model, method;
    const char* file;
  };
  const std::vector<Case> cases = {
      {kMlp, EbGfn(), "/policy.onnx"}, {kIsing, EbGfn(), "/policy.onnx"}, {kMlp, Aloe(), "/aloe.onnx"}};
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string whole = "whole" + std::to_string(i), cut = "cut" + std::to_string(i);
    const TrainOptions options = Small(cases[i].model, cases[i].method);
    TrainInFolder(options, dir_.File(whole), ExistingRun::kRefuse, quiet_);
    Stopper stopper(5);
    EXPECT_FALSE(TrainInFolder(options, dir_.File(cut), ExistingRun::kRefuse, stopper).complete);
    TrainOptions again;
    ReadRunOptions(dir_.File(cut)).ApplyTo(again);
    EXPECT_TRUE(ResumeInFolder(again, dir_.File(cut), quiet_).complete);
    EXPECT_TRUE(Checkpoint(cut) == Checkpoint(whole));
    for (const std::string& file : {std::string("/model.onnx"), std::string(cases[i].file)})
      EXPECT_TRUE(ReadBytes(dir_.File(cut + file)) == ReadBytes(dir_.File(whole + file))) << file;
  }
}

TEST_F(PolicyRun, TellsOfThePolicy) {
  TrainInFolder(Small(kMlp, EbGfn()), dir_.File("run"), ExistingRun::kRefuse, quiet_);
  const auto checkpoint = ReadCheckpoint(dir_.File("run/checkpoints/step-12.ckpt"));
  EXPECT_FALSE(checkpoint.SelectTensors("negatives/policy").empty());
  EXPECT_EQ(checkpoint.SelectTensors("negatives/policy").size(),
            checkpoint.SelectTensors("negatives").size());
  std::vector<std::string> names;
  const std::vector<MetricsLine> lines = ReadMetrics(dir_.File("run/metrics.jsonl"));
  for (const NamedScalar& scalar : lines.back().values) names.push_back(scalar.first);
  EXPECT_THAT(names, testing::IsSupersetOf({"policy_loss", "acceptance", "log_z"}));

  // Another run in its place takes the policy away with the rest.
  TrainInFolder(Small(kMlp, "pcd"), dir_.File("run"), ExistingRun::kReplace, quiet_);
  EXPECT_FALSE(fs::exists(dir_.File("run/policy.onnx")));
}

TEST_F(PolicyRun, ModelsTellHowTheyWereTrained) {
  const TrainOptions options = Small(kMlp, EbGfn());
  const TrainResult result = Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_);
  const auto json = nlohmann::json::parse(GetMetadata(result.model, metadata_key::kTraining));
  EXPECT_EQ(json.at("method"), "eb-gfn");
  EXPECT_EQ(json.at("objective"), "contrastive-divergence");
  EXPECT_EQ(json.at("acceptance"), "barker");
  EXPECT_EQ(json.at("policy_rate"), 3e-3);
}

TEST_F(PolicyRun, RefusesBeforeAnythingIsWritten) {
  const auto refuses = [&](const TrainOptions& options, const std::string& key, const auto&... parts) {
    const auto train = [&] { TrainInFolder(options, dir_.File("run"), ExistingRun::kRefuse, quiet_); };
    ExpectError(ErrorCode::kInvalidArgument, train, key, parts...);
    EXPECT_FALSE(fs::exists(dir_.File("run")));
  };
  refuses(Small(kMlp, EbGfn({{"policy_rate", 0.0}})), "policy_rate");
  refuses(Small(kMlp, EbGfn({{"growth", 0.0}})), "growth");
  refuses(Small(kMlp, EbGfn({{"acceptance", "always"}})), "acceptance", "barker, metropolis");
  refuses(Small(kMlp, EbGfn({{"sampler", "gibbs"}})), "sampler");
  refuses(Small(kMlp, {"aloe", {{"copies", 0}}}), "copies");
  refuses(Small(kMlp, {"aloe", {{"aloe_plus", true}, {"q0_hidden", "8"}}}), "q0_hidden");
  TrainOptions options = Small(kMlp, EbGfn());
  options.objective = "trajectory-balance";
  refuses(options, "objective", "must be one of");
}

}  // namespace
}  // namespace ort_ed
