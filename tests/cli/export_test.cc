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

TEST_F(ExportCommand, MistakesAreExplained) {
  Train();
  ExpectFailure(RunOrtEd({"export", Path("run")}), 2, "-o");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--checkpoint", "15"}), 1,
                "no checkpoint of step 15; there are 0, 10, 20");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("x.onnx"), "--weights", "best"}), 2, "best");
  ExpectFailure(RunOrtEd({"export", Path("run/checkpoints"), "-o", Path("x.onnx")}), 1,
                "is not a run directory");
  ExpectFailure(RunOrtEd({"export", Path("none.onnx"), "-o", Path("x.onnx")}), 1, "none.onnx");
  ExpectFailure(RunOrtEd({"export", Path("run/model.onnx"), "-o", Path("x.onnx"), "--weights", "raw"}), 2,
                "--weights needs a run directory");
  ExpectFailure(RunOrtEd({"export", Path("run"), "-o", Path("no/such/folder/x.onnx")}), 1, "x.onnx");
  EXPECT_FALSE(std::filesystem::exists(Path("x.onnx")));
}

}  // namespace
}  // namespace ort_ed
