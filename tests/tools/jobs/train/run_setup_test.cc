#include "tools/jobs/train/run_setup.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "models/graph/model_file.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

class Training : public ::testing::Test {
 protected:
  Training() {
    WriteBytes(dir_.File("rows.csv"), "0,1,1,0\n1,0,1,1\n0,0,0,1\n1,1,0,0\n");
    config_.data = dir_.File("rows.csv");
    config_.validation_fraction = 0;
    config_.model_options = {{"hidden", "4"}};
    config_.threads = 1;
  }

  RunSetup Begin() const { return ort_ed::SetUp(config_, nullptr); }
  RunSetup GoOn(const Checkpoint& checkpoint) const {
    return ort_ed::SetUp(config_, checkpoint, nullptr);
  }

  std::string BaseOf(const std::string& model, const std::string& base) {
    config_.model = model;
    config_.base = base;
    if (model == "ising") config_.model_options.clear();
    return Begin().config.base;
  }

  double Stabilisation(const std::string& method, bool exact) {
    config_.method = method;
    config_.exact = exact;
    return Begin().config.w;
  }

  static Checkpoint CheckpointOf(RunSetup& setup) {
    return {.step = 3,
            .configuration = setup.config.Hash(),
            .data = setup.dataset.hash,
            .model = SerializeModel(setup.model),
            .running = {},
            .state = setup.step->ReadState()};
  }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(Training, ABaseIsAddedToModelsWithoutFieldsOfTheirOwn) {
  EXPECT_EQ(BaseOf("mlp", "auto"), "data");
  EXPECT_EQ(BaseOf("mlp", "none"), "none");
  EXPECT_EQ(BaseOf("rbm", "auto"), "none");
  EXPECT_EQ(BaseOf("rbm", "data"), "data");
  EXPECT_EQ(BaseOf("ising", "auto"), "none");
}

TEST_F(Training, AResnetHasTheBaseToo) {
  config_.image_shape = "2x2";
  config_.model = "resnet";
  config_.model_options = {{"channels", "2"}, {"blocks", "1"}, {"downsample", "0"}};
  EXPECT_EQ(Begin().config.base, "data");
}

TEST_F(Training, AnEnumerationCountsTheRowOnce) {
  EXPECT_EQ(Stabilisation("grid", true), 0);
  EXPECT_EQ(Stabilisation("grid+erase", true), 0);
  EXPECT_EQ(Stabilisation("grid", false), 1);
  EXPECT_EQ(Stabilisation("grid+bernoulli", true), 1);
  config_.origin["w"] = "--w";  // somebody asked for it
  EXPECT_EQ(Stabilisation("grid", true), 1);
}

TEST_F(Training, TheConfigurationNamesItsFilesAbsolutely) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  config_.data = std::filesystem::relative(dir_.File("rows.csv"));
  config_.validation = std::filesystem::relative(dir_.File("rows.csv"));
  config_.model = std::filesystem::relative(dir_.File("mine.onnx"));
  config_.model_options.clear();
  const TrainConfig resolved = Begin().config;
  EXPECT_EQ(resolved.data, dir_.File("rows.csv"));
  EXPECT_EQ(resolved.validation, dir_.File("rows.csv"));
  EXPECT_EQ(resolved.model, dir_.File("mine.onnx"));
  EXPECT_EQ(resolved.base, "none");
}

TEST_F(Training, AModelOfAFileHasNoOptions) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  config_.model = dir_.File("mine.onnx");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Begin(); }, "an .onnx file has no options");
}

TEST_F(Training, GoesOnWithTheStateOfACheckpoint) {
  RunSetup setup = Begin();
  Checkpoint checkpoint = CheckpointOf(setup);
  std::ranges::fill(checkpoint.state.front().values, 0.25f);
  config_.steps = 77;  // of the section [run]: may change
  RunSetup resumed = GoOn(checkpoint);
  EXPECT_EQ(resumed.config.steps, 77);
  const auto state = resumed.step->ReadState();
  ASSERT_EQ(state.size(), checkpoint.state.size());
  for (const StateTensor& expected : checkpoint.state) {
    const auto same = std::ranges::find_if(state, [&](const StateTensor& tensor) {
      return tensor.kind == expected.kind && tensor.parameter == expected.parameter;
    });
    ASSERT_NE(same, state.end()) << expected.kind << " of " << expected.parameter;
    EXPECT_EQ(same->values, expected.values) << expected.kind << " of " << expected.parameter;
  }
}

TEST_F(Training, DoesNotGoOnWithAnotherConfiguration) {
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  config_.learning_rate *= 2;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); },
      "the configuration is not the one that the checkpoint was made with");
}

TEST_F(Training, DoesNotGoOnWithOtherData) {
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  std::filesystem::rename(config_.data, dir_.File("moved.csv"));
  config_.data = dir_.File("moved.csv");
  EXPECT_NO_THROW(GoOn(checkpoint));  // another place, the same rows
  WriteBytes(config_.data, "0,1,1,0\n1,0,1,1\n0,0,0,1\n1,1,0,1\n");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); }, "moved.csv' is not the data", checkpoint.data);
}

}  // namespace
}  // namespace ort_ed
