#include <algorithm>
#include <filesystem>

#include "ort_ed/energy_model.h"
#include "tests/cli/train_command.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Arguments = std::vector<std::string>;

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

}  // namespace
}  // namespace ort_ed
