// Trainings by ratio matching and concrete score: what they learn, how they go on, what they refuse.

#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/tools/jobs/train/law_training.h"

namespace ort_ed {
namespace {

struct MethodCase {
  const char* name;
  Choice model, method;
  double coupling = 1;
};

class LearnsTheLaw : public testing::TestWithParam<MethodCase> {};

// As for the trainings by samples of the model: far below where it starts, and within five times what 255
// parameters and 20,000 rows leave open. The concrete score learns a law whose ratios are within its clip.
TEST_P(LearnsTheLaw, WithoutSampling) {
  const Law truth = TruthWith(GetParam().coupling);
  TrainOptions options = Options(GetParam().model, GetParam().method);
  options.run.steps = 1;
  const double at_first = Divergence(Fit(options, truth).model, truth);
  options.run.steps = 1500;
  const double divergence = Divergence(Fit(options, truth).model, truth);
  RecordProperty("divergence", std::to_string(divergence));
  EXPECT_GT(at_first, 5 * divergence);
  EXPECT_LT(divergence, 0.03);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, LearnsTheLaw,
    testing::Values(MethodCase{"ising_ratios", kIsing, "ratio-matching"},
                    MethodCase{"mlp_ratios", kMlp, "ratio-matching"},
                    MethodCase{"mlp_drawn_ratios", kMlp, {"ratio-matching", {{"sites", 3}}}},
                    MethodCase{
                        "mlp_guided_ratios", kMlp, {"ratio-matching", {{"sites", 3}, {"guided", true}}}},
                    MethodCase{"ising_scores", kIsing, "concrete-score", 0.2},
                    MethodCase{"mlp_scores", kMlp, "concrete-score", 0.2},
                    MethodCase{"mlp_drawn_scores", kMlp, {"concrete-score", {{"sites", 4}}}, 0.2}),
    [](const auto& test) { return test.param.name; });

using NeighbourRun = LawRun;

TEST_F(NeighbourRun, GoesOnBitForBit) {
  const Choice guided("ratio-matching", {{"sites", 3}, {"guided", true}});
  for (const Choice& method : {guided, Choice("concrete-score", {{"sites", 2}})}) {
    const TrainOptions options = Small(kMlp, method);
    const std::string whole = "whole-" + method.kind, cut = "cut-" + method.kind;
    TrainInFolder(options, dir_.File(whole), ExistingRun::kRefuse, quiet_);
    Stopper stopper(5);
    EXPECT_FALSE(TrainInFolder(options, dir_.File(cut), ExistingRun::kRefuse, stopper).complete);
    TrainOptions again;
    ReadRunOptions(dir_.File(cut)).ApplyTo(again);
    EXPECT_TRUE(ResumeInFolder(again, dir_.File(cut), quiet_).complete);
    EXPECT_TRUE(Checkpoint(cut) == Checkpoint(whole));
  }
}

TEST_F(NeighbourRun, ModelsTellHowTheyWereTrained) {
  TrainOptions options = Small(kMlp, {"concrete-score", {{"sites", 2}}});
  options.objective.options["ratio_clip"] = 3.0;
  const TrainResult result = Train(options, DatasetFromRows(DrawnRows(100), options.data, 0), quiet_);
  const auto json = nlohmann::json::parse(GetMetadata(result.model, metadata_key::kTraining));
  EXPECT_EQ(json.at("objective"), "concrete-score");
  EXPECT_EQ(json.at("sites"), 2);
  EXPECT_EQ(json.at("ratio_clip"), 3);
}

TEST_F(NeighbourRun, RefusesBeforeAnythingIsWritten) {
  const auto refuses = [&](const TrainOptions& options, const std::string& key, const auto&... parts) {
    const auto train = [&] { TrainInFolder(options, dir_.File("run"), ExistingRun::kRefuse, quiet_); };
    ExpectError(ErrorCode::kInvalidArgument, train, key, parts...);
    EXPECT_FALSE(std::filesystem::exists(dir_.File("run")));
  };
  refuses(Small(kMlp, {"ratio-matching", {{"sites", 9}}}), "sites", "8 variables");
  refuses(Small(kMlp, {"ratio-matching+grid", {}}), "ratio-matching alone");
  TrainOptions options = Small(kMlp, "ratio-matching");
  options.objective = "energy-discrepancy";
  refuses(options, "objective", "must be ratio-matching");
  options = Small(kMlp, "ratio-matching");
  options.objective.options["ratio_clip"] = 3.0;
  refuses(options, "ratio_clip has no effect");
  options = Small(kMlp, "concrete-score");
  options.objective.options["ratio_clip"] = 0.0;
  refuses(options, "ratio_clip", "(0, 20]");

  WriteBytes(dir_.File("mine.onnx"), ModelFromText(R"(
    <ir_version: 8, opset_import: ["": 17]>
    g (float[batch, 8] x) => (float[batch] energy)
    <float[8, 1] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, int64[1] axis = {1}> {
      r = Round(x)
      column = MatMul(r, w)
      energy = Squeeze(column, axis)
    })"));
  refuses(Small(Choice(dir_.File("mine.onnx")), {"ratio-matching", {{"sites", 3}, {"guided", true}}}),
          "guided follows the gradient", "draw all alike");
}

}  // namespace
}  // namespace ort_ed
