// Commands are killed (SIGKILL) at random moments and repeated or resumed; what they have written in the end
// is bit for bit what an undisturbed run writes, and in between there is the whole of a file or nothing.
//
// Two hundred kills; more by ORT_ED_KILLS=1000, which is the number of all tests together.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using Words = std::vector<std::string>;

#ifdef ORT_ED_SANITIZED
constexpr int kUsualKills = 40;  // commands take many times as long
#else
constexpr int kUsualKills = 200;
#endif
constexpr int kTests = 5;

int KillsOfEach() {
  const char* all = std::getenv("ORT_ED_KILLS");
  return ((all != nullptr ? std::atoi(all) : kUsualKills) + kTests - 1) / kTests;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Kills : public ::testing::Test {
 protected:
  Kills() {
    std::string rows;
    std::mt19937 random(1);
    for (int row = 0; row < 400; ++row)
      for (int i = 0; i < 12; ++i) rows += std::string(random() % 3 == 0 ? "1" : "0") + (i < 11 ? "," : "\n");
    WriteBytes(File("rows.csv"), rows);
  }

  std::string File(const std::string& name) const { return folder_.File(name); }
  bool Exists(const std::string& name) const { return std::filesystem::exists(File(name)); }
  std::string Read(const std::string& name) const { return ReadBytes(File(name)); }

  CommandResult Run(const Words& words) {
    const auto start = std::chrono::steady_clock::now();
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, 0) << words[0] << ": " << result.err;
    seconds_ = SecondsSince(start);
    return result;
  }

  // Whether the command was killed before its end: after a part of the time that an undisturbed run takes.
  bool Kill(const Words& words) { return Signal(words, SIGKILL, 1) == 128 + SIGKILL; }

  // The exit code of a command that has the signal after up to a share of that time.
  int Signal(const Words& words, int signal, double share) {
    CommandProcess process(words);
    usleep(static_cast<useconds_t>(1e6 * seconds_ * std::uniform_real_distribution(0.0, share)(random_)));
    process.Signal(signal);
    return process.Wait().exit_code;
  }

  // Kills `words` so many times, looks at what is there after each, and runs it to its end.
  CommandResult KillAndRun(const std::function<Words()>& words, const std::function<void()>& look) {
    int killed = 0;
    for (int attempt = 0; killed < KillsOfEach() && attempt < 3 * KillsOfEach(); ++attempt) {
      if (Kill(words())) ++killed;
      look();
      Prepare();
    }
    EXPECT_GE(killed, KillsOfEach() / 2) << "most kills came too late";
    RecordProperty("kills", killed);
    return Run(words());
  }

  // Of a command that writes one file: the same twice over, into `output`.
  void ExpectWholeOrNothing(const Words& words, const std::string& output) {
    Run(words);
    const std::string whole = Read(output);
    ASSERT_FALSE(whole.empty());
    std::filesystem::remove(File(output));
    prepare_ = [&] { std::filesystem::remove(File(output)); };
    const auto is_whole_or_missing = [&] { EXPECT_TRUE(!Exists(output) || Read(output) == whole) << output; };
    KillAndRun([&] { return words; }, is_whole_or_missing);
    EXPECT_EQ(Read(output), whole);
    prepare_ = {};
  }

  void Prepare() {
    if (prepare_) prepare_();
  }

  // Half a second of training, with many checkpoints.
  Words Training(const std::string& run) const {
    return {"train",
            "--data",
            File("rows.csv"),
            "--hidden",
            "16",
            "--method",
            "bernoulli",
            "--steps",
            "600",
            "--batch-size",
            "32",
            "--threads",
            "1",
            "--seed",
            "5",
            "--checkpoint-every",
            "40",
            "--log-every",
            "20",
            "-o",
            File(run)};
  }

  void MakeModel() { Run({"new", "mlp", "-D", "12", "--hidden", "16", "--seed", "3", "-o", File("m.onnx")}); }

  TempDir folder_;
  std::mt19937 random_{7};
  double seconds_ = 0;  // of the last run that was not disturbed
  std::function<void()> prepare_;
};

TEST_F(Kills, TrainingGoesOnBitForBit) {
  Run(Training("whole"));
  const auto next = [&]() -> Words {
    // Killed before the folder was there it is begun anew, else it goes on.
    if (!Exists("run/config.toml")) return Training("run");
    return {"train", "--resume", File("run")};
  };
  const auto files_agree = [&](const std::string& name) {
    EXPECT_EQ(Read("run/" + name), Read("whole/" + name)) << name;
  };
  KillAndRun(next, [&] {
    // A folder with the last step is finished and begun anew, so that all kills count.
    if (Exists("run/checkpoints/step-600.ckpt")) {
      Run({"train", "--resume", File("run")});
      files_agree("model.onnx");
      std::filesystem::remove_all(File("run"));
    } else if (Exists("run") && !Exists("run/config.toml")) {
      std::filesystem::remove_all(File("run"));
    }
  });
  files_agree("model.onnx");
  files_agree("checkpoints/step-600.ckpt");
}

TEST_F(Kills, AnnealingGoesOnBitForBit) {
  MakeModel();
  const Words words = {
      "logz", File("m.onnx"), "--temperatures", "1500", "--chains", "40",         "--threads",
      "1",    "--json",       "--seed",         "2",    "--state",  File("state")};
  const std::string whole = Run(words).out;
  const std::string model = Read("m.onnx");
  int states = 0;
  const auto look = [&] {
    EXPECT_EQ(Read("m.onnx"), model);
    // A short run that is killed has stored nothing yet: one that hears its signal does, and the next goes
    // on.
    if (Signal(words, SIGINT, 0.3) == 128 + SIGINT) states += Exists("state") ? 1 : 0;
  };
  EXPECT_EQ(KillAndRun([&] { return words; }, look).out, whole);
  EXPECT_FALSE(Exists("state"));
  EXPECT_GT(states, 0);
  RecordProperty("states", states);
}

TEST_F(Kills, ScoringWritesAWholeFileOrNone) {
  MakeModel();
  ExpectWholeOrNothing(
      {"score", File("m.onnx"), File("rows.csv"), "--threads", "1", "-o", File("scores.csv")}, "scores.csv");
}

TEST_F(Kills, SamplingWritesAWholeFileOrNone) {
  MakeModel();
  ExpectWholeOrNothing({"sample", File("m.onnx"), "-n", "200", "--steps", "100", "--threads", "1", "--seed",
                        "4", "-o", File("samples.csv")},
                       "samples.csv");
}

TEST_F(Kills, ExportWritesAWholeFileOrNone) {
  Run(Training("run"));
  ExpectWholeOrNothing({"export", File("run"), "--with-gradient", "-o", File("e.onnx")}, "e.onnx");
}

}  // namespace
}  // namespace ort_ed
