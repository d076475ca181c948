#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ort_ed/energy_model.h"
#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExportCommand : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.File(name); }

  void Train() {
    std::string rows;
    for (int i = 0; i < 64; ++i) rows += i % 3 == 0 ? "0,0,1\n" : "1,1,0\n";
    WriteBytes(Path("rows.csv"), rows);
    const CommandResult result = RunOrtEd({"train", "--data", Path("rows.csv"), "-o", Path("run"), "--steps",
                                           "20", "--checkpoint-every", "10", "--batch-size", "16",
                                           "--negatives", "4", "--hidden", "8", "--threads", "1"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  nlohmann::json TrainingOf(const std::string& name) const {
    return nlohmann::json::parse(EnergyModel::FromFile(Path(name)).metadata().raw.at("ort_ed.training"));
  }

  void ExpectFailure(const CommandResult& result, int exit_code, const std::string& message) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.out, IsEmpty());
  }

  TempDir dir_;
};

TEST_F(ExportCommand, WritesTheModelOfAnyCheckpoint) {
  Train();
  const auto export_with = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"export", Path("run"), "-o", Path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  export_with("last.onnx", {});
  EXPECT_EQ(ReadBytes(Path("last.onnx")), ReadBytes(Path("run/model.onnx")));
  export_with("raw.onnx", {"--weights", "raw"});
  EXPECT_EQ(TrainingOf("raw.onnx")["weights"], "raw");
  EXPECT_NE(ReadBytes(Path("last.onnx")), ReadBytes(Path("raw.onnx")));
  export_with("early.onnx", {"--checkpoint", "10"});
  EXPECT_EQ(TrainingOf("early.onnx")["steps"], 10);
  // Of other weights they would not be true.
  const auto knows_training_rows = [&](const std::string& name) {
    return EnergyModel::FromFile(Path(name)).metadata().training_energies.has_value();
  };
  EXPECT_TRUE(knows_training_rows("last.onnx"));
  EXPECT_FALSE(knows_training_rows("raw.onnx"));
  EXPECT_FALSE(knows_training_rows("early.onnx"));
  export_with("sparse.onnx", {"--threshold", "0.1"});
  EXPECT_FALSE(knows_training_rows("sparse.onnx"));
}

TEST_F(ExportCommand, CompletesAUsersModel) {
  WriteBytes(Path("mine.onnx"), MlpModel(5, {4}));
  const CommandResult result =
      RunOrtEd({"export", Path("mine.onnx"), "--with-gradient", "-o", Path("out.onnx")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const EnergyModel model = EnergyModel::FromFile(Path("out.onnx"));
  EXPECT_EQ(model.metadata().dimension, 5);
  EXPECT_TRUE(model.HasGradient());
}

TEST_F(ExportCommand, AGradientThatDoesNotSeeTheEnergyIsWarnedOfAsCheckDoes) {
  WriteBytes(Path("lookup.onnx"), LookupModel());
  const CommandResult result =
      RunOrtEd({"export", Path("lookup.onnx"), "--with-gradient", "-o", Path("out.onnx")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string advice =
      "the energy depends on x through Cast (node 'state'), whose derivative is zero: gradient-guided "
      "samplers need --gradient differences; Gibbs sampling does without";
  EXPECT_THAT(result.err, HasSubstr("warning: " + advice));
  EXPECT_THAT(RunOrtEd({"check", Path("lookup.onnx")}).out, HasSubstr(advice));
  EXPECT_THAT(RunOrtEd({"export", Path("lookup.onnx"), "-o", Path("plain.onnx")}).err, IsEmpty());
}

TEST_F(ExportCommand, TheGradientIsThatOfTheEnergy) {
  Train();
  const CommandResult result =
      RunOrtEd({"export", Path("run"), "--with-gradient", "-o", Path("gradient.onnx")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const EnergyModel model = EnergyModel::FromFile(Path("gradient.onnx"));
  ASSERT_TRUE(model.HasGradient());
  const std::vector<float> row = {1, 0, 1};
  std::vector<float> energy(1), gradient(3), plain(1);
  model.EnergyAndGradient(row, energy, gradient);
  EnergyModel::FromFile(Path("run/model.onnx")).Energy(row, plain);
  EXPECT_FLOAT_EQ(energy[0], plain[0]);
  for (size_t i = 0; i < 3; ++i) {
    constexpr float kStep = 1.0f / 64;
    std::vector<float> moved = row, above(1), below(1);
    moved[i] = row[i] + kStep;
    model.EnergyUnchecked(moved, above);
    moved[i] = row[i] - kStep;
    model.EnergyUnchecked(moved, below);
    EXPECT_NEAR(gradient[i], (above[0] - below[0]) / (2 * kStep), 2e-3) << i;
  }
}

// l1 finds the support, the threshold makes it exact, and the refit has no penalty that shrinks it.
TEST_F(ExportCommand, ThresholdAndRefitOnTheSupport) {
  std::string rows;
  for (int i = 0; i < 400; ++i) {
    const int first = i % 2, third = i / 2 % 2;
    rows += std::to_string(first) + "," + std::to_string(i % 10 < 8 ? first : 1 - first) + "," +
            std::to_string(third) + "\n";
  }
  WriteBytes(Path("rows.csv"), rows);
  const auto train = [&](const std::string& model, const std::string& run, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",
                                          "--data",
                                          Path("rows.csv"),
                                          "--model",
                                          model,
                                          "-o",
                                          Path(run),
                                          "--steps",
                                          "300",
                                          "--learning-rate",
                                          "0.02",
                                          "--epsilon",
                                          "0.3",
                                          "--negatives",
                                          "8",
                                          "--threads",
                                          "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = RunOrtEd(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  };
  // Of U = -s'Js with s = 2x - 1: energies of 00, 01 and 10, 11 give the coupling.
  const auto coupling = [&](const std::string& file, int i, int j) {
    std::vector<uint8_t> states(12);
    states[3 + i] = states[6 + j] = states[9 + i] = states[9 + j] = 1;
    std::vector<float> u(4);
    EnergyModel::FromFile(Path(file)).Energy(states, u);
    return -(u[0] - u[1] - u[2] + u[3]) / 8;
  };
  train("ising", "run", {"--l1", "0.02"});
  const CommandResult exported = RunOrtEd(
      {"export", Path("run"), "--threshold", "0.05", "--threshold-on", "G", "-o", Path("sparse.onnx")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, HasSubstr("7 of 9 values are zero"));
  train(Path("sparse.onnx"), "refit", {"--freeze-zeros"});
  EXPECT_EQ(coupling("refit/model.onnx", 0, 2), 0);
  EXPECT_EQ(coupling("refit/model.onnx", 1, 2), 0);
  EXPECT_GT(coupling("refit/model.onnx", 0, 1), coupling("sparse.onnx", 0, 1));
  // p(equal) = 0.8 is e^{2J} / (e^{2J} + e^{-2J}).
  EXPECT_NEAR(coupling("refit/model.onnx", 0, 1), std::log(4) / 4, 0.05);
}

TEST_F(ExportCommand, MistakesAreExplained) {
  Train();
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--threshold-on", "w"}), 2,
                "--threshold-on has no effect with --threshold 0");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--threshold", "-1"}), 2,
                "--threshold must lie in [0, inf), not -1");
  ExpectFailure(RunOrtEd({"export", Path("run")}), 2, "-o FILE, or --ort-training DIR");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--checkpoint", "15"}), 1,
                "no checkpoint of step 15; there are 0, 10, 20");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--weights", "best"}), 1,
                "--weights must be one of ema, raw, not 'best'");
  ExpectFailure(RunOrtEd({"export", Path("run/checkpoints"), "-o", Path("x.onnx")}), 1,
                "is not a run directory");
  ExpectFailure(RunOrtEd({"export", Path("none.onnx"), "-o", Path("x.onnx")}), 1, "none.onnx");
  ExpectFailure(RunOrtEd({"export", Path("run/model.onnx"), "-o", Path("x.onnx"), "--weights", "raw"}), 2,
                "--weights has no effect with an .onnx file; it needs a run directory");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("no/such/folder/x.onnx")}), 1, "x.onnx");
  EXPECT_FALSE(std::filesystem::exists(Path("x.onnx")));
}

// What is in them is tested by ONNX Runtime's training itself (tests/ort_training).
TEST_F(ExportCommand, WritesWhatOnnxRuntimesTrainingGoesOnWith) {
  Train();
  const CommandResult result = RunOrtEd({"export", Path("run"), "--ort-training", Path("artefacts")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("as of step 20"));
  EXPECT_THAT(result.err, HasSubstr("no moving average"));
  for (const char* name : {"training_model.onnx", "eval_model.onnx", "optimizer_model.onnx"})
    EXPECT_FALSE(ReadBytes(Path(std::string("artefacts/") + name)).empty()) << name;
  EXPECT_EQ(ReadBytes(Path("artefacts/checkpoint")).substr(4, 4), "ODTC");
  // The loss without a step: rows and negatives in, the energy of each row out.
  const CommandResult early =
      RunOrtEd({"export", Path("run"), "--ort-training", Path("early"), "--checkpoint", "10"});
  ASSERT_EQ(early.exit_code, 0) << early.err;
  EXPECT_NE(ReadBytes(Path("early/checkpoint")), ReadBytes(Path("artefacts/checkpoint")));
  EXPECT_EQ(ReadBytes(Path("early/training_model.onnx")), ReadBytes(Path("artefacts/training_model.onnx")));
}

TEST_F(ExportCommand, RefusesWhatOnnxRuntimesTrainingHasNot) {
  Train();
  ExpectFailure(RunOrtEd({"export", Path("run")}), 2, "-o FILE, or --ort-training DIR");
  ExpectFailure(RunOrtEd({"export", Path("run"), "--ort-training", Path("artefacts"), "--weights", "raw"}), 2,
                "--weights has no effect without --output");
  ExpectFailure(RunOrtEd({"export", Path("run/model.onnx"), "--ort-training", Path("artefacts")}), 1,
                "is not a run directory");
  const CommandResult other =
      RunOrtEd({"train", "--data", Path("rows.csv"), "-o", Path("l1"), "--steps", "5", "--batch-size", "16",
                "--hidden", "8", "--threads", "1", "--l1", "0.1"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  ExpectFailure(RunOrtEd({"export", Path("l1"), "--ort-training", Path("artefacts")}), 1,
                "ONNX Runtime's training has no l1 penalty");
}

}  // namespace
}  // namespace ort_ed
