#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

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

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Arguments = std::vector<std::string>;

// Six variables: the first three equal with probability 0.9 each, the fourth constant, two free.
std::string CorrelatedRows(int rows) {
  std::mt19937 random(5);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const unsigned first = random() % 2;
    text += std::to_string(first);
    for (int k = 0; k < 2; ++k) text += "," + std::to_string(random() % 10 == 0 ? 1 - first : first);
    text += ",1," + std::to_string(random() % 2) + "," + std::to_string(random() % 2) + "\n";
  }
  return text;
}

bool SameFiles(const std::string& a, const std::string& b) { return ReadBytes(a) == ReadBytes(b); }

class TrainCommand : public ::testing::Test {
 protected:
  TrainCommand() { WriteBytes(Path("rows.csv"), CorrelatedRows(500)); }

  std::string Path(const std::string& name) const { return dir_.File(name); }

  // A small training; `more` adds to its options or replaces them, "" takes one away.
  Arguments Small(const std::string& run, const Arguments& more = {}) const {
    std::map<std::string, std::string> options = {
        {"--data", Path("rows.csv")}, {"-o", Path(run)},    {"--steps", "40"}, {"--threads", "1"},
        {"--batch-size", "16"},       {"--negatives", "4"}, {"--hidden", "16"}};
    Arguments flags;
    for (size_t i = 0; i < more.size(); ++i) {
      const bool is_flag = i + 1 == more.size() || more[i + 1].starts_with("--");
      if (is_flag) flags.push_back(more[i]);
      if (!is_flag) options[more[i]] = more[i + 1], ++i;
    }
    Arguments arguments = {"train"};
    for (const auto& [name, value] : options)
      if (!value.empty()) arguments.insert(arguments.end(), {name, value});
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return arguments;
  }

  CommandResult Train(const std::string& run, const Arguments& more = {}) const {
    return RunOrtEd(Small(run, more));
  }

  void ExpectFailure(const CommandResult& result, int exit_code, const std::string& message) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.out, IsEmpty());
  }

  std::vector<nlohmann::json> Metrics(const std::string& run) const {
    std::vector<nlohmann::json> lines;
    std::ifstream file(Path(run + "/metrics.jsonl"));
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  std::vector<double> ValidationLosses(const std::string& run) const {
    std::vector<double> losses;
    for (const auto& line : Metrics(run))
      if (line.contains("validation_loss")) losses.push_back(line["validation_loss"]);
    return losses;
  }

  // Without what depends on the clock.
  std::vector<nlohmann::json> TimelessMetrics(const std::string& run) const {
    auto lines = Metrics(run);
    for (auto& line : lines) {
      line.erase("time");
      line.erase("steps_per_second");
    }
    return lines;
  }

  TempDir dir_;
};

TEST_F(TrainCommand, ChainsDoNotFollowAGradientThatSeesNothing) {
  WriteBytes(Path("lookup.onnx"), LookupModel());
  WriteBytes(Path("three.csv"), "0,0,0\n1,1,0\n0,1,1\n0,0,1\n0,1,1\n0,0,0\n1,1,0\n0,0,0\n");
  const Arguments chains = {
      "--data", Path("three.csv"), "--model", Path("lookup.onnx"), "--hidden", "",          "--negatives",
      "",       "--batch-size",    "4",       "--method",          "cd",       "--sampler", "gwg"};
  const CommandResult refused = Train("run", chains);
  ExpectFailure(refused, 2, "--sampler");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("Cast"), HasSubstr("differences")));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
  Arguments by_differences = chains;
  by_differences.insert(by_differences.end(), {"--sampler-gradient", "differences"});
  const CommandResult result = Train("run", by_differences);
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(TrainCommand, LeavesARunDirectoryThatTellsEverything) {
  const CommandResult result =
      Train("run", {"--method", "bernoulli", "--log-every", "10", "--validate-every", "20", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto summary = nlohmann::json::parse(result.out);
  EXPECT_EQ(summary["steps"], 40);
  EXPECT_TRUE(summary.contains("validation_loss"));

  const auto lines = Metrics("run");
  ASSERT_EQ(lines.size(), 4u);
  for (const char* name : {"step", "time", "loss", "energy_positive", "energy_negative", "gradient_norm",
                           "learning_rate", "steps_per_second"})
    EXPECT_TRUE(lines[0].contains(name)) << name;
  EXPECT_FALSE(lines[0].contains("validation_loss"));
  EXPECT_TRUE(lines[1].contains("validation_loss"));
  EXPECT_LT(lines[3]["loss"], lines[0]["loss"]);

  EXPECT_TRUE(fs::exists(Path("run/config.toml")));
  EXPECT_TRUE(fs::exists(Path("run/curves.png")));
  EXPECT_TRUE(fs::exists(Path("run/checkpoints/step-40.ckpt")));
  const EnergyModel model = EnergyModel::FromFile(Path("run/model.onnx"));
  EXPECT_EQ(model.dimension(), 6);
  const auto training = nlohmann::json::parse(model.metadata().raw.at("ort_ed.training"));
  EXPECT_EQ(training["steps"], 40);
  EXPECT_EQ(training["method"], "bernoulli");
  EXPECT_EQ(training["weights"], "ema");
  // The constant column gives finite energies, and states that break with it are unlikely.
  const std::vector<uint8_t> rows = {1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0};
  std::vector<float> energies(2);
  model.Energy(rows, energies);
  EXPECT_LT(energies[0], energies[1]);
}

TEST_F(TrainCommand, ItsConfigurationRepeatsTheRun) {
  ASSERT_EQ(Train("run", {"--seed", "3"}).exit_code, 0);
  const CommandResult again = RunOrtEd({"train", "--config", Path("run/config.toml"), "-o", Path("run2")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("run2/model.onnx")));
  EXPECT_TRUE(SameFiles(Path("run/config.toml"), Path("run2/config.toml")));
  const CommandResult other =
      RunOrtEd({"train", "--config", Path("run/config.toml"), "--seed", "4", "-o", Path("run3")});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_FALSE(SameFiles(Path("run/model.onnx"), Path("run3/model.onnx")));
}

TEST_F(TrainCommand, EveryMethodAndOptimiserTrains) {
  const std::vector<Arguments> variants = {
      {"--method", "bernoulli"},
      {"--method", "pool", "--window", "3"},
      {"--method", "grid"},
      {"--method", "erase", "--block", "2"},
      {"--method", "erase", "--block", "2", "--exact"},
      {"--method", "grid", "--exact", "--model", "rbm", "--hidden", "4"},
      {"--method", "neighbourhood", "--moves", "both"},
      {"--epsilon", "0.02,0.1,0.3", "--epsilon-end", "0.02,0.05,0.1"},
      {"--method", "grid+pool+bernoulli", "--exact", "--window", "3"},
      {"--optimizer", "sgd", "--learning-rate", "0.1", "--weight-decay", "0.01", "--ema", "0"},
      {"--optimizer", "adamw", "--weight-decay", "0.01", "--l1", "0.001", "--micro-batch", "4"},
  };
  for (size_t i = 0; i < variants.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(variants[i]));
    const std::string run = "run" + std::to_string(i);
    Arguments options = {"--learning-rate", "0.02", "--validate-every", "1", "--base", "none"};
    options.insert(options.end(), variants[i].begin(), variants[i].end());
    const CommandResult result = Train(run, options);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<double> losses = ValidationLosses(run);
    ASSERT_EQ(losses.size(), 40u);
    EXPECT_LT(losses.back(), losses.front() - 0.05);
  }
}

TEST_F(TrainCommand, StartsFromAUsersModelAndKeepsItsMetadata) {
  std::string mine = WithMetadata(MlpModel(6, {8}), "author", "me");
  mine = WithMetadata(mine, "ort_ed.log_z", "3.5");
  WriteBytes(Path("mine.onnx"), mine);
  const CommandResult result = Train("run", {"--model", Path("mine.onnx"), "--hidden", "", "--base", "data"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadBytes(Path("run/model.onnx")), HasSubstr("author"));
  const EnergyModel model = EnergyModel::FromFile(Path("run/model.onnx"));
  EXPECT_FALSE(model.HasLogZ());  // of other weights
  EXPECT_EQ(model.metadata().base_mean.size(), 6u);
  // Its own model is where the next run starts from, which needs no base of its own.
  EXPECT_EQ(Train("next", {"--model", Path("run/model.onnx"), "--hidden", ""}).exit_code, 0);
  ExpectFailure(Train("twice", {"--model", Path("run/model.onnx"), "--hidden", "", "--base", "data"}), 2,
                "--base does not fit: the model already has a base distribution");
  ExpectFailure(Train("options", {"--model", Path("mine.onnx")}), 2, "--hidden has no effect with --model ");
  WriteBytes(Path("wide.onnx"), MlpModel(7, {8}));
  ExpectFailure(Train("wide", {"--model", Path("wide.onnx"), "--hidden", ""}), 1, "rows.csv");
}

TEST_F(TrainCommand, TrainsAModelOfAnOldOpset) {
  WriteBytes(Path("old.onnx"), ModelFromText(R"(<ir_version: 6, opset_import: ["": 11]>
    old (float[batch, 6] x) => (float[batch] energy) <float[6, 1] weight = {1, 2, 3, 4, 5, 6}> {
      column = MatMul(x, weight)
      energy = Squeeze<axes = [1]>(column)
    })"));
  const CommandResult result = Train("run", {"--model", Path("old.onnx"), "--hidden", "", "--base", "data"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(EnergyModel::FromFile(Path("run/model.onnx")).dimension(), 6);
}

TEST_F(TrainCommand, TrainsOnSyntheticData) {
  EXPECT_EQ(Train("pinwheel", {"--data", "synth:pinwheel", "--steps", "5"}).exit_code, 0);
  const CommandResult ising = Train("ising", {"--data", "synth:ising:shape=3x4,rows=200,steps=500", "--model",
                                              "ising", "--hidden", "", "--steps", "5"});
  EXPECT_EQ(ising.exit_code, 0) << ising.err;
  EXPECT_EQ(EnergyModel::FromFile(Path("ising/model.onnx")).dimension(), 12);
  EXPECT_EQ(RunOrtEd({"train", "--resume", Path("ising"), "--steps", "10"}).exit_code, 0);
}

class KilledTraining : public TrainCommand, public testing::WithParamInterface<const char*> {};

TEST_P(KilledTraining, GoesOnBitForBit) {
  const Arguments options = {"--steps",          "300", "--checkpoint-every", "7",       "--log-every", "10",
                             "--validate-every", "50",  "--method",           GetParam()};
  ASSERT_EQ(Train("whole", options).exit_code, 0);

  std::mt19937 random(11);
  CommandProcess first(Small("killed", options));
  while (first.Running() && !fs::exists(Path("killed/config.toml")))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
  first.Signal(SIGKILL);
  EXPECT_EQ(first.Wait().exit_code, 128 + SIGKILL);
  int kills = 1;
  while (true) {
    CommandProcess next({"train", "--resume", Path("killed")});
    // Ever later, so that the run comes to its end.
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * kills + random() % 100));
    next.Signal(SIGKILL);
    const CommandResult result = next.Wait();
    if (result.exit_code == 0) break;
    ASSERT_EQ(result.exit_code, 128 + SIGKILL) << result.err;
    ++kills;
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

TEST_F(TrainCommand, TrainsByChainsWithOptionsOfTheirSampler) {
  const CommandResult result = Train("run", {"--method", "pcd", "--sampler", "gwg", "--sampler-flips", "2",
                                             "--chain-steps", "3", "--buffer", "100", "--energy-l2", "0.1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string config = ReadBytes(Path("run/config.toml"));
  for (const char* line : {"objective = \"contrastive-divergence\"", "sampler = \"gwg\"", "sampler_flips = 2",
                           "chain_steps = 3", "buffer = 100", "energy_l2 = 0.1"})
    EXPECT_THAT(config, HasSubstr(line));
  // The configuration repeats the run.
  const CommandResult again = RunOrtEd({"train", "--config", Path("run/config.toml"), "-o", Path("again")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(SameFiles(Path("run/model.onnx"), Path("again/model.onnx")));
}

TEST_F(TrainCommand, RefusesWhatChainsDoNotHave) {
  const auto refuses = [&](const Arguments& more, const std::string& message) {
    ExpectFailure(Train("run", more), 2, message);
    EXPECT_FALSE(fs::exists(Path("run")));
  };
  refuses({"--method", "pcd", "--sampler-flips", "2"}, "--sampler-flips has no effect with --sampler gibbs");
  refuses({"--sampler", "gwg"}, "--sampler has no effect with --method auto; it belongs to cd, pcd");
  refuses({"--sampler-flips", "2"}, "--sampler-flips has no effect with --method auto");
  refuses({"--method", "pcd", "--epsilon", "0.1"}, "--epsilon has no effect with --method pcd");
  refuses({"--method", "cd", "--buffer", "100"}, "--buffer has no effect with --method cd");
  refuses({"--method", "pcd", "--w", "1"}, "--w has no effect with --objective contrastive-divergence");
  refuses({"--method", "bernoulli", "--energy-l2", "0.1"},
          "--energy-l2 has no effect with --objective energy-discrepancy");
  refuses({"--method", "pcd", "--objective", "energy-discrepancy"},
          "--objective must be contrastive-divergence with method pcd");
  refuses({"--method", "pcd", "--buffer", "10"}, "--buffer must hold the chains of a step");
  refuses({"--method", "pcd", "--chain-steps", "0"}, "--chain-steps must lie in [1, 1000000]");
}

// 30 rows of noise to learn by heart, others to validate on.
TEST_F(TrainCommand, KeepsTheBestModelAndEndsWhenItsPatienceDoes) {
  std::mt19937 random(2);
  for (const char* name : {"few.csv", "other.csv"}) {
    std::string text;
    for (int i = 0; i < 30; ++i)
      for (int k = 0; k < 12; ++k)
        text += std::string(k ? "," : "") + "01"[random() % 2] + (k == 11 ? "\n" : "");
    WriteBytes(Path(name), text);
  }
  const Arguments options = {
      "--data",  Path("few.csv"), "--validation", Path("other.csv"), "--validate-every",   "20",
      "--steps", "2000",          "--decay",      "constant",        "--patience",         "3",
      "--ema",   "0.9",           "--hidden",     "64,64",           "--checkpoint-every", "30",
      "--json",  "--method",      "bernoulli"};
  const CommandResult result = Train("run", options);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("ended early: none of the last 3 validations was better"));
  double lowest = INFINITY;
  int64_t lowest_step = 0, last_step = 0;
  for (const auto& line : Metrics("run")) {
    last_step = line["step"];
    if (!line.contains("validation_nll") || line["validation_nll"] >= lowest) continue;
    lowest = line["validation_nll"];
    lowest_step = line["step"];
  }
  const auto summary = nlohmann::json::parse(result.out);
  EXPECT_TRUE(summary.contains("loss"));
  EXPECT_EQ(summary["best"]["step"], lowest_step);
  EXPECT_EQ(summary["best"]["validation_nll"], lowest);
  EXPECT_EQ(summary["steps"], lowest_step + 60);
  EXPECT_LT(lowest_step, last_step);
  const EnergyModel best = EnergyModel::FromFile(Path("run/best.onnx"));
  EXPECT_EQ(nlohmann::json::parse(best.metadata().raw.at("ort_ed.training"))["steps"], lowest_step);
  EXPECT_FALSE(SameFiles(Path("run/best.onnx"), Path("run/model.onnx")));

  // Interrupted before the best and after it, the end is the same.
  for (const int64_t cut : {lowest_step - 10, lowest_step + 30}) {
    fs::remove_all(Path("cut"));
    Arguments first = options;
    first[7] = std::to_string(cut);  // --steps
    ASSERT_EQ(Train("cut", first).exit_code, 0);
    const CommandResult resumed = RunOrtEd({"train", "--resume", Path("cut"), "--steps", "2000"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_TRUE(SameFiles(Path("cut/best.onnx"), Path("run/best.onnx"))) << cut;
  }
}

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

TEST_F(TrainCommand, EpochsAndTimesAreWrittenDownAsSteps) {
  ASSERT_EQ(Train("epochs", {"--steps", "", "--epochs", "2"}).exit_code, 0);
  EXPECT_EQ(Metrics("epochs").back()["step"], 56);  // 450 rows, 16 a step
  const CommandResult timed = Train("timed", {"--steps", "", "--time", "0.3s", "--json"});
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  const auto steps = nlohmann::json::parse(timed.out)["steps"].get<int64_t>();
  EXPECT_THAT(timed.err, HasSubstr("has time for " + std::to_string(steps) + " steps"));
  EXPECT_THAT(ReadBytes(Path("timed/config.toml")), HasSubstr("steps = " + std::to_string(steps) + " "));
  // The command line overrides whatever the file says of the length.
  WriteBytes(Path("long.toml"), "[run]\ntime = \"1h\"\n");
  EXPECT_EQ(Train("short", {"--config", Path("long.toml")}).exit_code, 0);
  EXPECT_EQ(Metrics("short").back()["step"], 40);
  ExpectFailure(Train("both", {"--time", "1m"}), 2, "--steps has no effect with --time");
  for (const char* bad : {"10", "ten", "0m", "h", "-1s"})
    ExpectFailure(Train("bad", {"--steps", "", "--time", bad}), 2,
                  "--time must be a time above 0 with its unit: 30s, 10m, 2h or 1.5h, not");
  WriteBytes(Path("bare.toml"), "[run]\ntime = 10\n");
  ExpectFailure(RunOrtEd({"train", "--config", Path("bare.toml"), "-o", Path("bad")}), 1, "30s, 10m, 2h");
  EXPECT_THAT(RunOrtEd({"train", "--help"}).out, AllOf(HasSubstr("--time TIME"), HasSubstr("30s, 10m, 2h")));
}

TEST_F(TrainCommand, SaysWhatItLearned) {
  const CommandResult good = Train("good", {"--json"});
  const auto learned = nlohmann::json::parse(good.out);
  EXPECT_EQ(learned["learned"], true);
  EXPECT_TRUE(learned.contains("validation_nll"));
  WriteBytes(Path("same.csv"), "1,0,1\n1,0,1\n1,0,1\n");
  const CommandResult none = Train("none", {"--data", Path("same.csv"), "--json"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(none.out)["learned"], false);
  EXPECT_EQ(nlohmann::json::parse(none.out)["learned_why"],
            "every row is the same: there is nothing to learn");
  EXPECT_THAT(none.err, HasSubstr("warning: every row is the same"));
}

TEST_F(TrainCommand, ResumesWithTheSameValueInOtherWords) {
  ASSERT_EQ(Train("run", {"--clip", "5", "--l1", "0"}).exit_code, 0);
  for (const Arguments& same : {Arguments{"--clip", "5.0"}, {"--clip", "5e0"}, {"--l1", "-0.0"}}) {
    const CommandResult result = RunOrtEd({"train", "--resume", Path("run"), same[0], same[1]});
    EXPECT_EQ(result.exit_code, 0) << same[1] << result.err;
  }
  ExpectFailure(RunOrtEd({"train", "--resume", Path("run"), "--clip", "5.5"}), 2, "--clip cannot change");
}

TEST_F(TrainCommand, DoesNotReplaceTheFilesThatItReads) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const std::string model = ReadBytes(Path("run/model.onnx"));
  ExpectFailure(Train("run", {"--hidden", "", "--force", "--model", Path("run/model.onnx")}), 2,
                "is to be replaced");
  ExpectFailure(Train("run", {"--force", "--validation", Path("run/curves.png")}), 2, "--validation reads");
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
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

TEST_F(TrainCommand, DivergenceIsCaughtAtTheStepAndLeavesTheCheckpoint) {
  const CommandResult result = Train("run", {"--method", "bernoulli", "--optimizer", "sgd", "--learning-rate",
                                             "1e30", "--clip", "0", "--w", "0", "--checkpoint-every", "1"});
  ExpectFailure(result, 1, "the training diverged at step ");
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("a smaller learning rate"), HasSubstr("(clip 5)"), HasSubstr("(w 1)")));
  const CommandResult exported = RunOrtEd({"export", Path("run"), "-o", Path("model.onnx")});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
}

// The loss that a step reports is from before its update.
TEST_F(TrainCommand, ParametersThatExplodedAreNeverKept) {
  const Arguments wild = {"--learning-rate", "1e10", "--steps", "1"};
  ExpectFailure(Train("last", wild), 1, "the training diverged at step 1: ");
  ExpectFailure(
      Train("often", {"--learning-rate", "1e10", "--checkpoint-every", "1", "--keep-checkpoints", "1"}), 1,
      "The last good checkpoint is '" + Path("often/checkpoints/step-0.ckpt'"));
  // Also where validation finds it first; the run can be looked at and resumed afterwards.
  const CommandResult validated =
      Train("validated", {"--learning-rate", "1e9", "--hidden", "8,8,8,8", "--steps", "3", "--validate-every",
                          "1", "--log-every", "1"});
  ExpectFailure(validated, 1, "the training diverged at step 1: loss");
  ExpectFailure(RunOrtEd({"train", "--resume", Path("validated")}), 1,
                "the training diverged at step 1: loss");
}

TEST_F(TrainCommand, ValidatesNeverIfToldSo) {
  ASSERT_EQ(Train("run", {"--validate-every", "0"}).exit_code, 0);
  for (const auto& line : Metrics("run")) EXPECT_FALSE(line.contains("validation_loss"));
  EXPECT_FALSE(fs::exists(Path("run/best.onnx")));
}

TEST_F(TrainCommand, ZerosOfAnL1PenaltyAreExactInWhatIsDeployed) {
  ASSERT_EQ(Train("run", {"--model", "ising", "--hidden", "", "--l1", "0.05", "--init", "zero", "--decay",
                          "constant", "--steps", "300"})
                .exit_code,
            0);
  const auto zeros = [&](const Arguments& how) {
    Arguments arguments = {"export", Path("run"), "-o", Path("model.onnx")};
    arguments.insert(arguments.end(), how.begin(), how.end());
    EXPECT_EQ(RunOrtEd(arguments).exit_code, 0);
    const CommandResult refit = Train("refit", {"--model", Path("model.onnx"), "--hidden", "", "--steps", "1",
                                                "--freeze-zeros", "--force"});
    EXPECT_EQ(refit.exit_code, 0) << refit.err;
    EXPECT_EQ(RunOrtEd({"inspect", Path("model.onnx"), "--couplings", Path("J.csv")}).exit_code, 0);
    const std::string couplings = ReadBytes(Path("J.csv"));
    int count = 0;
    for (size_t at = 0; (at = couplings.find_first_not_of("\n,", at)) != std::string::npos;) {
      const size_t end = std::min(couplings.find_first_of("\n,", at), couplings.size());
      count += std::abs(std::stod(couplings.substr(at, end - at))) < 1e-6;  // read off energies
      at = end;
    }
    return count;
  };
  const int raw = zeros({"--weights", "raw"});
  EXPECT_GT(raw, 8);  // more than the diagonal
  EXPECT_EQ(zeros({}), raw);
  EXPECT_TRUE(SameFiles(Path("model.onnx"), Path("run/model.onnx")));
}

TEST_F(TrainCommand, NeverReplacesAFolderUnasked) {
  ASSERT_EQ(Train("run").exit_code, 0);
  WriteBytes(Path("run/notes.txt"), "mine");
  const std::string model = ReadBytes(Path("run/model.onnx"));
  ExpectFailure(Train("run", {"--seed", "1"}), 1, "--resume " + Path("run"));
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
  // What is wrong is found before the old run is touched.
  ExpectFailure(Train("run", {"--force", "--data", Path("none.csv")}), 1, "none.csv");
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
  EXPECT_EQ(Train("run", {"--seed", "1", "--force"}).exit_code, 0);
  EXPECT_FALSE(ReadBytes(Path("run/model.onnx")) == model);
  EXPECT_EQ(ReadBytes(Path("run/notes.txt")), "mine");
  fs::create_directory(Path("photos"));
  WriteBytes(Path("photos/a.jpg"), "mine");
  ExpectFailure(Train("photos", {"--force"}), 1, "is not empty and no run directory");
  WriteBytes(Path("photos/config.toml"), "x = 1\n");
  ExpectFailure(Train("photos", {"--force"}), 1, "is not empty and no run directory");
  EXPECT_EQ(ReadBytes(Path("photos/config.toml")), "x = 1\n");
}

TEST_F(TrainCommand, AFinishedRunHasNoStepsLeftToResume) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const CommandResult again = RunOrtEd({"train", "--resume", Path("run")});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("all taken before"));
}

TEST_F(TrainCommand, MisuseIsExplained) {
  ExpectFailure(RunOrtEd({"train"}), 2, "name the folder of the run");
  ExpectFailure(RunOrtEd({"train", "-o", Path("run")}), 2, "name the rows to train on");
  ExpectFailure(Train("run", {"--learning-rat", "1"}), 1, "unknown option '--learning-rat'; there are --");
  ExpectFailure(Train("run", {"--learning-rate", "-1"}), 2, "--learning-rate must lie in (0, inf), not -1");
  ExpectFailure(Train("run", {"--steps", "many"}), 2, "--steps must be a whole number, not 'many'");
  ExpectFailure(Train("run", {"--method", "gibbs"}), 1,
                "--method must be one of bernoulli, pool, grid, neighbourhood");
  ExpectFailure(Train("run", {"--warmup-steps", "41"}), 2, "--warmup-steps must not exceed steps, 40");
  ExpectFailure(Train("run", {"--method", "pool", "--window", "0x3"}), 2, "--window");
  ExpectFailure(Train("run", {"--exact"}), 2, "--exact has no effect with --method auto");
  ExpectFailure(Train("run", {"--model", "rbm", "--activation", "relu"}), 2, "activation");
  ExpectFailure(Train("run", {"--model", "transformer"}), 1, "mlp");
  ExpectFailure(Train("run", {"--data", "synth:nothing"}), 1,
                "--data names synth:nothing, which is not known; there are synth:2spirals");
  ExpectFailure(Train("run", {"--data", "synth:ising:sigma=big"}), 2,
                "--data names synth:ising, whose sigma must be a number, not 'big'");
  ExpectFailure(Train("run", {"--data", "synth:ising:colour=red"}), 1, "there are shape, sigma, steps, rows");
  ExpectFailure(Train("run", {"--data", "synth:moons:rows=3"}), 2,
                "--data names synth:moons, which takes no options");
  ExpectFailure(Train("run", {"--device", "abacus"}), 1, "abacus");
  WriteBytes(Path("eight.onnx"), MlpModel(8, {4}));
  ExpectFailure(Train("run", {"--data", "synth:ising:shape=3x3,rows=20", "--model", Path("eight.onnx"),
                              "--hidden", ""}),
                2, "--data has rows of 9 variables, not the 8 that are needed");
  ExpectFailure(Train("run", {"--l1-parameters", "G"}), 2, "--l1-parameters has no effect with --l1 0");
  ExpectFailure(Train("run", {"--patience", "2", "--validate-every", "0"}), 2, "counts validations");
  ExpectFailure(Train("run", {"--method", "pool", "--window", "3x3"}), 2, "wider than a row of 6x1");
  ExpectFailure(Train("run", {"--data", Path("\xff.csv")}), 2, "--data must be UTF-8");
  EXPECT_FALSE(fs::exists(Path("run")));
}

TEST_F(TrainCommand, WhatHasNoEffectIsRefused) {
  const auto refuse = [&](const Arguments& options, const std::string& message) {
    ExpectFailure(Train("run", options), 2, message);
  };
  refuse({"--method", "grid", "--epsilon", "0.3"},
         "--epsilon has no effect with --method grid; it belongs to bernoulli");
  refuse({"--momentum", "0.5"}, "--momentum has no effect with --optimizer adam");
  refuse({"--optimizer", "sgd", "--beta1", "0.5"}, "--beta1 has no effect with --optimizer sgd");
  refuse({"--threshold", "0.3"}, "--threshold has no effect with --binarise strict");
  refuse({"--model", "rbm", "--hidden", "4", "--activation", "relu"},
         "--activation has no effect with --model rbm; it belongs to mlp, resnet");
  refuse({"--coupling", "0.2"}, "--coupling has no effect with --model mlp; it belongs to ising");
  // Also at its default: who writes it expects something of it.
  refuse({"--momentum", "0.9"}, "--momentum has no effect with --optimizer adam");
  EXPECT_FALSE(fs::exists(Path("run")));
}

TEST_F(TrainCommand, UnknownNamesAreBadInput) {
  ExpectFailure(Train("run", {"--optimizer", "adamax"}), 1, "--optimizer must be one of adam, adamw, sgd");
  ExpectFailure(Train("run", {"--decay", "step"}), 1, "--decay must be one of constant, linear, cosine");
  ExpectFailure(Train("run", {"--objective", "score-matching"}), 1, "--objective must be one of energy-");
  ExpectFailure(Train("run", {"--activation", "sine"}), 1, "--activation must be one of ");
  EXPECT_FALSE(fs::exists(Path("run")));
}

TEST_F(TrainCommand, TheDeployedModelTellsNoPlaceOfThisMachine) {
  WriteBytes(Path("mine.onnx"), MlpModel(6, {8}));
  WriteBytes(Path("other.csv"), CorrelatedRows(50));
  ASSERT_EQ(Train("built", {"--validation", Path("other.csv")}).exit_code, 0);
  ASSERT_EQ(Train("mine", {"--model", Path("mine.onnx"), "--hidden", ""}).exit_code, 0);
  ASSERT_EQ(RunOrtEd({"export", Path("mine"), "--with-gradient", "-o", Path("out.onnx")}).exit_code, 0);
  for (const char* name : {"built/model.onnx", "built/best.onnx", "mine/model.onnx", "out.onnx"}) {
    EXPECT_THAT(ReadBytes(Path(name)), Not(HasSubstr(dir_.path()))) << name;
    const EnergyModel model = EnergyModel::FromFile(Path(name));
    for (const auto& [key, value] : model.metadata().raw) {
      if (key == "ort_ed.gradient") continue;  // base64
      EXPECT_THAT(value, Not(HasSubstr("/"))) << name << " " << key;
    }
  }
}

TEST_F(TrainCommand, EnergiesThatAreNoNumbersOrDependOnTheBatchAreRefused) {
  const auto refused = [&](const std::string& nodes, const std::string& why) {
    WriteBytes(
        Path("user.onnx"),
        ModelFromText("<ir_version: 8, opset_import: [\"\": 17]> g (float[N, 6] x) => (float[N] energy) "
                      "<float[6] w = {1, 2, 3, 1, 2, 3}> { l = MatMul(x, w) " +
                      nodes + "}"));
    ExpectFailure(Train("run", {"--model", Path("user.onnx"), "--hidden", ""}), 1, why);
  };
  refused("m = ReduceMean<keepdims = 0>(l) energy = Sub(l, m)", "depends on the batch or on chance");
  refused("r = RandomNormalLike(l) energy = Add(l, r)", "depends on the batch or on chance");
  refused("z = Sub(l, l) energy = Div(z, z)", "not numbers from the start");
}

TEST_F(TrainCommand, MistakesInFilesAreExplained) {
  const auto with_config = [&](const std::string& text) {
    WriteBytes(Path("run.toml"), text);
    return Train("run", {"--config", Path("run.toml")});
  };
  ExpectFailure(with_config("[optimizer]\nlearning_rat = 1\n"), 1, "run.toml:2: unknown key 'learning_rat'");
  ExpectFailure(with_config("[schedule]\n\nwarmup_steps = 50\n"), 1,
                "run.toml:3: warmup_steps must not exceed steps, 40");
  ExpectFailure(with_config("[model]\nmodel = \"transformer\"\n"), 1, "run.toml:2: model");
  ExpectFailure(with_config("[perturbation]\nmethod = \"pool\"\nwindow = \"wide\"\n"), 1,
                "run.toml:3: window");
  ExpectFailure(with_config("[optimizer]\nlearning_rate = -1\n"), 1,
                "run.toml:2: learning_rate must lie in (0, inf), not -1");
  ExpectFailure(with_config("[optimizer]\nmomentum = 0.5\n"), 1,
                "run.toml:2: momentum has no effect with optimizer adam");
  ExpectFailure(with_config("[perturbation]\nmethod = \"grid\"\n\nepsilon = 0.3\n"), 1,
                "run.toml:4: epsilon has no effect with method grid");
  ExpectFailure(with_config("[perturbation]\nmethod = \"gibbs\"\n"), 1, "run.toml:2: method must be one of");
  ExpectFailure(with_config("[run]\nsteps =\n"), 1, "run.toml:2: ");
  fs::create_directory(Path("folder"));
  ExpectFailure(Train("run", {"--config", Path("folder")}), 1, "folder/config.toml");
  WriteBytes(Path("bad.csv"), "0,1,2\n");
  ExpectFailure(Train("run", {"--data", Path("bad.csv")}), 1, "bad.csv");
  WriteBytes(Path("empty.csv"), "");
  ExpectFailure(Train("run", {"--data", Path("empty.csv")}), 1, "empty.csv");
  WriteBytes(Path("bad.onnx"), "not a model");
  ExpectFailure(Train("run", {"--model", Path("bad.onnx"), "--hidden", ""}), 1, "bad.onnx");
  EXPECT_FALSE(fs::exists(Path("run")));
}

}  // namespace
}  // namespace ort_ed
