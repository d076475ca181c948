// What `ort-ed train` refuses, and that nothing is left of it.

#include <filesystem>

#include "tests/cli/train_command.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

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

TEST_F(TrainCommand, DoesNotReplaceTheFilesThatItReads) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const std::string model = ReadBytes(Path("run/model.onnx"));
  ExpectFailure(Train("run", {"--hidden", "", "--force", "--model", Path("run/model.onnx")}), 2,
                "is to be replaced");
  ExpectFailure(Train("run", {"--force", "--validation", Path("run/curves.png")}), 2, "--validation reads");
  EXPECT_TRUE(ReadBytes(Path("run/model.onnx")) == model);
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
