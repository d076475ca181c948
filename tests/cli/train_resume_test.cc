// Runs that were killed, stopped or complete, and what may go on from them.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "ort_ed/energy_model.h"
#include "tests/cli/train_command.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

class KilledTraining : public TrainCommand, public testing::WithParamInterface<const char*> {
 protected:
  // The step of a run's newest checkpoint; 0 before its first.
  int NewestCheckpoint(const std::string& run) const {
    int newest = 0;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(Path(run + "/checkpoints"), none_yet)) {
      const std::string name = entry.path().filename().string();
      int step = 0;
      if (std::sscanf(name.c_str(), "step-%d.ckpt", &step) == 1) newest = std::max(newest, step);
    }
    return newest;
  }
};

TEST_P(KilledTraining, GoesOnBitForBit) {
  const Arguments options = {"--steps",          "300", "--checkpoint-every", "7",       "--log-every", "10",
                             "--validate-every", "50",  "--method",           GetParam()};
  ASSERT_EQ(Train("whole", options).exit_code, 0);

  std::mt19937 random(11);
  int kills = 0;
  int exit_code = 128 + SIGKILL;
  for (auto command = Small("killed", options); exit_code != 0;
       command = {"train", "--resume", Path("killed")}) {
    CommandProcess process(command);
    // By its progress, not by the clock: a fast machine is killed as often as a slow one.
    const int step = NewestCheckpoint("killed") + 7 * (1 + static_cast<int>(random() % 5));
    while (process.Running() && NewestCheckpoint("killed") < step)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 5));
    process.Signal(SIGKILL);
    const CommandResult result = process.Wait();
    exit_code = result.exit_code;
    ASSERT_THAT(exit_code, AnyOf(0, 128 + SIGKILL)) << result.err;
    kills += exit_code != 0;
  }
  EXPECT_GT(kills, 1);
  EXPECT_TRUE(SameFiles(Path("killed/checkpoints/step-300.ckpt"), Path("whole/checkpoints/step-300.ckpt")));
  EXPECT_TRUE(SameFiles(Path("killed/model.onnx"), Path("whole/model.onnx")));
  EXPECT_TRUE(SameFiles(Path("killed/best.onnx"), Path("whole/best.onnx")));
  EXPECT_EQ(TimelessMetrics("killed"), TimelessMetrics("whole"));
  for (const auto& entry : fs::recursive_directory_iterator(Path("killed")))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp-")));
}

INSTANTIATE_TEST_SUITE_P(Methods, KilledTraining, testing::Values("bernoulli", "pcd"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(TrainCommand, StopsAtASignalAndTellsHowToGoOn) {
  const Arguments options = {"--steps",       "20000", "--log-every",        "10", "--base-steps", "50",
                             "--base-hidden", "8",     "--checkpoint-every", "0"};
  CommandProcess process(Small("run", options));
  const auto first_step_is_done = [&] {
    return std::ranges::any_of(Metrics("run"), [](const auto& line) { return line["step"] > 0; });
  };
  while (process.Running() && !first_step_is_done())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.Signal(SIGHUP);
  const CommandResult stopped = process.Wait();
  ExpectFailure(stopped, 128 + SIGHUP, "go on with: ort-ed train --resume " + Path("run"));
  const CommandResult resumed = RunOrtEd({"train", "--resume", Path("run")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, Not(HasSubstr("resuming at step 0\n")));
  ASSERT_EQ(Train("whole", options).exit_code, 0);
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
}

TEST_F(TrainCommand, PassesOverADamagedCheckpoint) {
  ASSERT_EQ(Train("run", {"--checkpoint-every", "10"}).exit_code, 0);
  const std::string model = ReadBytes(Path("run/model.onnx"));
  std::string bytes = ReadBytes(Path("run/checkpoints/step-40.ckpt"));
  bytes[bytes.size() / 2] ^= 1;
  WriteBytes(Path("run/checkpoints/step-40.ckpt"), bytes);
  const CommandResult result = RunOrtEd({"train", "--resume", Path("run")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("step-40.ckpt' is not a usable checkpoint"), HasSubstr("resuming at step 30")));
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
}

TEST_F(TrainCommand, ARunWithoutItsCheckpointsIsNotStartedOver) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const std::string model = ReadBytes(Path("run/model.onnx"));
  fs::remove_all(Path("run/checkpoints"));
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--steps", "60"}), 1,
                "no checkpoint to go on from");
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
}

TEST_F(TrainCommand, AnnealedNoiseGoesOnWhereItWas) {
  const Arguments options = {"--epsilon", "0.3", "--epsilon-end", "0.01", "--checkpoint-every", "10"};
  ASSERT_EQ(Train("whole", options).exit_code, 0);
  fs::copy(Path("whole"), Path("run"), fs::copy_options::recursive);
  for (const char* step : {"30", "40"})
    fs::remove(Path("run/checkpoints/step-" + std::string(step) + ".ckpt"));
  const CommandResult resumed = RunOrtEd({"train", "--resume", Path("run")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming at step 20"));
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
  const EnergyModel model = EnergyModel::FromFile(Path("run/model.onnx"));
  const auto training = nlohmann::json::parse(model.metadata().raw.at("ort_ed.training"));
  EXPECT_NEAR(training["epsilon"][0].get<double>(), 0.01, 1e-12);
  ASSERT_EQ(Train("constant", {"--epsilon", "0.3"}).exit_code, 0);
  EXPECT_FALSE(SameFiles(Path("constant/checkpoints/step-40.ckpt"), Path("run/checkpoints/step-40.ckpt")));
}

TEST_F(TrainCommand, ACompleteRunGoesOnWithMoreSteps) {
  const auto train = [&](const std::string& run, const std::string& steps) {
    return Train(run, {"--method", "bernoulli", "--decay", "constant", "--steps", steps}).exit_code;
  };
  ASSERT_EQ(train("run", "40"), 0);
  ASSERT_EQ(RunOrtEd({"train", "--resume", Path("run"), "--steps", "60"}).exit_code, 0);
  ASSERT_EQ(train("whole", "60"), 0);
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("whole/model.onnx")));
}

TEST_F(TrainCommand, ResumesWithTheSameValueInOtherWords) {
  ASSERT_EQ(Train("run", {"--clip", "5", "--l1", "0"}).exit_code, 0);
  for (const Arguments& same : {Arguments{"--clip", "5.0"}, {"--clip", "5e0"}, {"--l1", "-0.0"}}) {
    const CommandResult result = RunOrtEd({"train", "--resume", Path("run"), same[0], same[1]});
    EXPECT_EQ(result.exit_code, 0) << same[1] << result.err;
  }
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--clip", "5.5"}), 2, "--clip cannot change");
}

TEST_F(TrainCommand, RefusesToResumeWithOtherSettingsOrData) {
  ASSERT_EQ(Train("run").exit_code, 0);
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--epsilon", "0.2"}), 2,
                "--epsilon cannot change");
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "-o", Path("other")}), 2, "exclude each other");
  ExpectFailure(RunOrtEd({"train", "--resume", Path("nothing")}), 1, "is not a run directory");
  WriteBytes(Path("moved.csv"), ReadBytes(Path("rows.csv")));
  EXPECT_EQ(RunOrtEd({"train", "--resume", Path("run"), "--data", Path("moved.csv")}).exit_code, 0);
  WriteBytes(Path("moved.csv"), CorrelatedRows(499));
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run")}), 1,
                "is not the data that the run was trained on");
  std::string config = ReadBytes(Path("run/config.toml"));
  const size_t seed = config.find("seed = 0");
  ASSERT_NE(seed, std::string::npos);
  const auto line = 1 + std::count(config.begin(), config.begin() + static_cast<std::ptrdiff_t>(seed), '\n');
  WriteBytes(Path("run/config.toml"), config.replace(seed, 8, "seed = 9"));
  ExpectFailure(
      RunOrtEd({"train", "--resume", Path("run")}), 1,
      "run/config.toml:" + std::to_string(line) + ": seed was '0' when the run began and is '9' now");
}

TEST_F(TrainCommand, OtherValidationRowsOrFewerStepsAreNoResumption) {
  WriteBytes(Path("other.csv"), CorrelatedRows(50));
  ASSERT_EQ(Train("run", {"--validation", Path("other.csv")}).exit_code, 0);
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--steps", "20"}), 2,
                "--steps must not be less than the 40 that the run has taken");
  WriteBytes(Path("other.csv"), CorrelatedRows(60));
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--steps", "80"}), 1, "is not the data");
}

TEST_F(TrainCommand, AFinishedRunHasNoStepsLeftToResume) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const CommandResult again = RunOrtEd({"train", "--resume", Path("run")});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("all taken before"));
}

}  // namespace
}  // namespace ort_ed
