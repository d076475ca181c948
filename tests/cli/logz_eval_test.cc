#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_file.h"
#include "runtime/support/files/atomic_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/file_contents.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/picture/canvas.h"

namespace ort_ed {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string WriteModel(const TempDir& folder, const std::string& architecture, int64_t dimension,
                       OptionMap options = {}, uint64_t seed = 5) {
  EnergySpec spec;
  spec.architecture = {architecture, std::move(options)};
  spec.dimension = dimension;
  spec.base_mean.assign(dimension, 0.4f);
  spec.seed = seed;
  const std::string path = folder.File(architecture + ".onnx");
  WriteFileAtomically(path, SerializeModel(BuildModel(spec)));
  return path;
}

std::string WriteRows(const TempDir& folder, int64_t dimension, int rows = 20) {
  std::string text;
  for (int row = 0; row < rows; ++row)
    for (int64_t i = 0; i < dimension; ++i) {
      text += (row * 7 + i * 3) % 5 < 2 ? "1" : "0";
      text += i + 1 == dimension ? "\n" : ",";
    }
  const std::string path = folder.File("rows.csv");
  WriteFileAtomically(path, text);
  return path;
}

json RunJson(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const CommandResult result = RunOrtEd(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

void ExpectUnknown(const std::vector<std::string>& arguments, const std::string& candidates) {
  const CommandResult result = RunOrtEd(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("guess"), HasSubstr(candidates)));
  EXPECT_EQ(result.out, "");
}

TEST(LogZCommand, EveryMethodAgreesWithTheExactValue) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const double exact = RunJson({"logz", model, "--method", "exact"})["log_z"];
  const std::vector<std::array<std::string, 3>> methods = {
      {"ais", "--temperatures", "50"}, {"raise", "--temperatures", "50"}, {"is", "--proposals", "20000"}};
  for (const auto& [method, option, value] : methods) {
    const json estimate = RunJson({"logz", model, "--method", method, option, value});
    EXPECT_NEAR(estimate["log_z"], exact, 5 * estimate["standard_error"].get<double>() + 1e-3) << method;
    EXPECT_GT(estimate["effective_samples"], 20) << method;
  }
}

// A term that no random row and no sample of a fitted quadratic form would show: U = -sum/4 - 20 relu(sum -
// 19).
TEST(LogZCommand, ExactMeansTheModelItself) {
  const TempDir folder;
  const std::string model = folder.File("well.onnx");
  WriteFileAtomically(model, ModelFromText(R"(
    <ir_version: 8, opset_import: ["": 17]>
    well (float[N, 20] x) => (float[N] energy) <int64[1] axes = {1}, float a = {-0.25}, float b = {19}, float c = {-20}> {
      s = ReduceSum<keepdims = 0>(x, axes) l = Mul(s, a)
      d = Sub(s, b) r = Relu(d) w = Mul(r, c) energy = Add(l, w) })"));
  const double expected = std::log(std::pow(1 + std::exp(0.25), 20) - std::exp(5.0) + std::exp(25.0));
  EXPECT_NEAR(RunJson({"logz", model, "--method", "exact"})["log_z"], expected, 1e-4);
}

TEST(LogZCommand, WriteMakesScoreReportLogLikelihoods) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "mlp", 8, {{"hidden", "16"}});
  const double log_z = RunJson({"logz", model, "--method", "exact", "--write"})["log_z"];
  const json score = RunJson({"score", model, WriteRows(folder, 8)});
  EXPECT_NEAR(score["log_z"]["value"], log_z, 1e-9);
  EXPECT_EQ(score["log_z"]["method"], "exact");
  EXPECT_NEAR(score["log_likelihood"]["mean"].get<double>(), -score["energy"]["mean"].get<double>() - log_z,
              1e-5);
}

TEST(LogZCommand, UnknownNamesListTheCandidates) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 4);
  const auto expect_unknown = [&](const std::string& option, const std::string& candidates) {
    ExpectUnknown({"logz", model, option, "guess"}, candidates);
  };
  expect_unknown("--method", "ais, raise, exact, is, policy, metadata, auto, known");
  expect_unknown("--estimator", "ais, raise, exact, is, policy, metadata, auto, known");
  expect_unknown("--sampler", "gibbs, block-gibbs");
  expect_unknown("--scan", "systematic, random");
  expect_unknown("--base", "model, uniform");
  expect_unknown("--spacing", "linear, sigmoid, adaptive");
  expect_unknown("--device", "cpu");
}

TEST(LogZCommand, HelpTellsWhatAnnealingTakes) {
  for (const std::string command : {"logz", "eval"}) {
    const CommandResult help = RunOrtEd({command, "--help"});
    EXPECT_THAT(help.out,
                AllOf(HasSubstr("block-gibbs"), HasSubstr("dmala"), HasSubstr("of chains, proposals")));
    EXPECT_THAT(help.out, Not(AnyOf(HasSubstr("dula"), HasSubstr("tempering")))) << command;
  }
  EXPECT_THAT(RunOrtEd({"sample", "--help"}).out, AllOf(HasSubstr("dula"), HasSubstr("tempering")));
}

TEST(LogZCommand, ExactEnumerationEndsAtDimension26) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"logz", WriteModel(folder, "rbm", 27), "--method", "exact"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("D = 27"));
}

// Interrupts a run that keeps its state in `state`; the first signals may come before it catches them.
void InterruptWithState(const std::vector<std::string>& arguments, const std::string& state) {
  for (useconds_t delay = 300000; delay < 10000000 && !std::filesystem::exists(state); delay *= 2) {
    CommandProcess process(arguments);
    usleep(delay);
    process.Signal(SIGINT);
    const CommandResult stopped = process.Wait();
    EXPECT_NE(stopped.exit_code, 0) << "finished before the signal came";
    EXPECT_EQ(stopped.out, "");
  }
  ASSERT_TRUE(std::filesystem::exists(state));
}

TEST(LogZCommand, InterruptedRunContinuesToTheSameResult) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}});
  const std::vector<std::string> arguments = {"logz",     model, "--temperatures", "4000",
                                              "--chains", "20",  "--json"};
  std::vector<std::string> resumable = arguments;
  resumable.insert(resumable.end(), {"--state", folder.File("state")});
  InterruptWithState(resumable, folder.File("state"));
  const CommandResult whole = RunOrtEd(arguments);
  const CommandResult resumed = RunOrtEd(resumable);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("continuing at"));
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_FALSE(std::filesystem::exists(folder.File("state")));
}

TEST(LogZCommand, AnInterruptedReverseRunKeepsTheSamplesItStartsFrom) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}});
  const std::vector<std::string> arguments = {"logz", model,      "--method", "raise", "--temperatures",
                                              "4000", "--chains", "20",       "--json"};
  std::vector<std::string> resumable = arguments;
  const std::string state = folder.File("state");
  resumable.insert(resumable.end(), {"--state", state});
  InterruptWithState(resumable, state);
  const CommandResult whole = RunOrtEd(arguments);
  const CommandResult resumed = RunOrtEd(resumable);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("drawing samples: continuing at"));
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST(LogZCommand, FilesBesideTheStateAreNobodysBusiness) {
  const TempDir folder;
  const std::string state = folder.File("state");
  WriteFileAtomically(state + ".samples", "somebody's");
  const std::vector<std::string> run = {
      "logz", WriteModel(folder, "rbm", 6), "--method", "raise", "--temperatures", "9", "--state", state};
  EXPECT_EQ(RunOrtEd(run).exit_code, 0);
  EXPECT_EQ(ReadBytes(state + ".samples"), "somebody's");
  EXPECT_FALSE(std::filesystem::exists(state));
}

TEST(LogZCommand, AFileThatIsNoStateStaysWhateverTheEstimatorIs) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 6), state = folder.File("state");
  WriteFileAtomically(state, "somebody's");
  for (const std::string estimator : {"ais", "raise"})
    EXPECT_EQ(RunOrtEd({"logz", model, "--estimator", estimator, "--state", state}).exit_code, 1);
  // Enumerated: no state is needed, none is removed.
  EXPECT_EQ(RunOrtEd({"logz", model, "--estimator", "auto", "--state", state}).exit_code, 0);
  EXPECT_EQ(ReadBytes(state), "somebody's");
}

// Counts how often a file is opened while it lives.
class OpenCounter {
 public:
  explicit OpenCounter(const std::string& path) : queue_(inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(inotify_add_watch(queue_, path.c_str(), IN_OPEN), 0);
  }
  ~OpenCounter() { close(queue_); }
  OpenCounter(const OpenCounter&) = delete;
  OpenCounter& operator=(const OpenCounter&) = delete;

  int Count() {
    alignas(inotify_event) char events[4096];
    int count = 0;
    for (ssize_t size; (size = read(queue_, events, sizeof events)) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(events + at);
        count += (event->mask & IN_OPEN) != 0 ? 1 : 0;
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    return count;
  }

 private:
  int queue_;
};

TEST(LogZCommand, ReadsTheModelOnceAndOnceMoreBeforeItWrites) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "mlp", 8, {{"hidden", "16"}});
  for (const std::string sampler : {"gibbs", "gwg"}) {
    OpenCounter opens(model);
    const CommandResult result = RunOrtEd({"logz", model, "--temperatures", "20", "--sampler", sampler,
                                           "--write", "--state", folder.File("state")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const int count = opens.Count();
    EXPECT_GE(count, 1);
    EXPECT_LE(count, 2) << sampler;
  }
}

TEST(LogZCommand, FormerSpellingsOfTheEstimatorStillWork) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 8), rows = WriteRows(folder, 8);
  EXPECT_EQ(RunJson({"logz", model, "--method", "exact"}), RunJson({"logz", model, "--estimator", "exact"}));
  EXPECT_EQ(RunJson({"eval", model, "--data", rows, "--samples", "0", "--log-z", "is"}),
            RunJson({"eval", model, "--data", rows, "--samples", "0", "--estimator", "is"}));
}

TEST(LogZCommand, AnErrorThatIsNotKnownIsNotWritten) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 6);
  const CommandResult result = RunOrtEd({"logz", model, "--chains", "1", "--temperatures", "9", "--write"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("log Z"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("was left as it is"), HasSubstr("take more chains")));
  EXPECT_EQ(RunOrtEd({"score", model, WriteRows(folder, 6)}).exit_code, 0);
}

TEST(LogZCommand, AnUnreliableEstimateIsNotWritten) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "ising", 16, {{"scale", "3"}});  // few states carry its weight
  const std::string before = ReadBytes(model);
  const std::vector<std::string> estimate = {"logz", model, "--method", "is", "--proposals", "30"};
  const CommandResult shown = RunOrtEd(estimate);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.err, AllOf(HasSubstr("warning"), HasSubstr("is reliable")));
  std::vector<std::string> written = estimate;
  written.emplace_back("--write");
  const CommandResult refused = RunOrtEd(written);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, shown.out);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("was left as it is: only"), HasSubstr("more proposals")));
  EXPECT_EQ(ReadBytes(model), before);
}

TEST(LogZCommand, AStateContinuesOnlyTheRunItIsOf) {
  const TempDir folder;
  const std::string state = folder.File("state");
  const std::string model = WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}});
  const std::vector<std::string> run = {"logz",           model,    "--sampler", "dmala",
                                        "--temperatures", "200000", "--state",   state};
  InterruptWithState(run, state);
  const auto expect_refusal = [&](const std::vector<std::string>& change, const std::string& difference) {
    std::vector<std::string> changed = run;
    if (!change.empty() && change[0] == "--sampler") changed.erase(changed.begin() + 2, changed.begin() + 4);
    changed.insert(changed.end(), change.begin(), change.end());
    const CommandResult result = RunOrtEd(changed);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("state of another run: it differs in " + difference + ";"));
    EXPECT_TRUE(std::filesystem::exists(state));
  };
  expect_refusal({"--step-size", "0.3"}, "step size");
  expect_refusal({"--sampler", "block-gibbs", "--block", "3", "--scan", "random", "--updates", "7"},
                 "sampler");
  expect_refusal({"--sampler", "gwg", "--flips", "2"}, "sampler");
  expect_refusal({"--sampler", "pas", "--path-length", "4"}, "sampler");
  expect_refusal({"--base", "uniform", "--seed", "9"}, "base, seed");
  expect_refusal({"--method", "raise", "--data", WriteRows(folder, 12)}, "estimator, starting rows");
  WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}}, 6);
  expect_refusal({}, "model");
}

TEST(LogZCommand, ADamagedStateIsRefused) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 6);
  WriteFileAtomically(folder.File("state"), "not a state");
  const CommandResult result =
      RunOrtEd({"logz", model, "--temperatures", "9", "--state", folder.File("state")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("name another file"));
  EXPECT_TRUE(std::filesystem::exists(folder.File("state")));
}

TEST(LogZCommand, AChangedByteOfAStateIsFound) {
  const TempDir folder;
  const std::string state = folder.File("state");
  const std::vector<std::string> run = {
      "logz", WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}}), "--temperatures", "200000", "--state",
      state};
  InterruptWithState(run, state);
  std::string bytes = FileContents(state);
  for (const size_t place : {bytes.size() / 2, bytes.size() - 1, size_t{0}}) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    WriteFileAtomically(state, damaged);
    const CommandResult result = RunOrtEd(run);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("is damaged or no state of an annealing"));
  }
}

TEST(LogZCommand, AModelThatChangesDuringTheWorkIsNotWrittenTo) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}});
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()),
                         std::filesystem::directory_iterator());
  };
  CommandProcess process({"logz", model, "--temperatures", "3000", "--write"});
  while (files() == 1) usleep(1000);  // until it has read the model and opened what it will write
  WriteModel(folder, "mlp", 12, {{"hidden", "64,64"}}, 6);
  const std::string changed = FileContents(model);
  const CommandResult result = process.Wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("has changed in the meantime"));
  EXPECT_EQ(FileContents(model), changed);
}

TEST(LogZCommand, UnlessToldOtherwiseItIsExactWhereThatIsCheap) {
  const TempDir folder;
  const std::string wide = WriteModel(folder, "rbm", 21, {{"hidden", "2"}});
  EXPECT_THAT(RunJson({"logz", wide})["method"].get<std::string>(), HasSubstr("ais, gibbs"));
  const std::string model = WriteModel(folder, "rbm", 6, {{"hidden", "2"}});
  const json exact = RunJson({"logz", model, "--estimator", "exact"});
  EXPECT_EQ(RunJson({"logz", model, "--write", "--threads", "1", "--seed", "3"}), exact);
  EXPECT_EQ(RunJson({"inspect", model})["metadata"]["ort_ed.log_z_method"], "exact");
  // What only annealing has is taken as a wish for it.
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--temperatures", "9"}, {"--sampler", "gwg"}, {"--base", "uniform"}}) {
    std::vector<std::string> arguments = {"logz", model};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_THAT(RunJson(arguments)["method"].get<std::string>(), HasSubstr("ais, ")) << options[0];
  }
}

TEST(LogZCommand, OptionsThatWouldDoNothingOrHarmAreMisuse) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 6), rows = WriteRows(folder, 6);
  const auto fails = [&](const std::vector<std::string>& options, const std::string& message) {
    std::vector<std::string> arguments = {"logz", model};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
  };
  fails({"--state", model}, "--state would overwrite");
  fails({"--method", "raise", "--data", rows, "--state", rows}, "--state would overwrite");
  fails({"--data", rows}, "--data has no effect with --estimator auto");
  fails({"--method", "exact", "--state", folder.File("state")}, "--state has no effect");
  fails({"--method", "is", "--state", folder.File("state")}, "--state has no effect");
  fails({"--method", "exact", "--step-size", "0.3"}, "--step-size has no effect with --estimator exact");
  fails({"--method", "exact", "--chains", "8"},
        "--chains has no effect with --estimator exact; it belongs to ais, raise, auto");
  fails({"--method", "is", "--sampler", "gwg"}, "--sampler has no effect with --estimator is");
  fails({"--proposals", "9"}, "--proposals has no effect with --estimator auto; it belongs to is");
  fails({"--step-size", "0.3"}, "--step-size has no effect with --sampler gibbs; it belongs to dmala");
  fails({"--method", "exact", "--seed", "3"}, "--seed has no effect with --estimator exact");
  fails({"--state", ""}, "--state needs a value");
}

TEST(LogZCommand, NumbersOutOfTheirRangeAreMisuse) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 6), rows = WriteRows(folder, 6);
  const std::vector<std::vector<std::string>> cases = {
      {"--chains", "0"},
      {"--temperatures", "0"},
      {"--proposals", "0", "--estimator", "is"},
      {"--step-size", "0", "--sampler", "dmala"},
      {"--flips", "0", "--sampler", "gwg"},
      {"--threads", "-1"},
  };
  for (const std::vector<std::string>& options : cases) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"logz", model}, {"eval", model, "--data", rows}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), options.begin(), options.end());
      const CommandResult result = RunOrtEd(arguments);
      EXPECT_EQ(result.exit_code, 2) << result.err;
      EXPECT_THAT(result.err, HasSubstr(options[0] + " must lie in "));
    }
  }
}

TEST(EvalCommand, LikelihoodIsEnergyPlusLogZ) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const json result =
      RunJson({"eval", model, "--data", WriteRows(folder, 10), "--samples", "100", "--steps", "20"});
  const double nll = result["nll"];
  EXPECT_NEAR(nll, result["energy"]["mean"].get<double>() + result["log_z"]["log_z"].get<double>(), 1e-9);
  EXPECT_EQ(result["log_z"]["method"], "exact");
  EXPECT_NEAR(result["bits_per_dimension"], nll / (10 * std::log(2)), 1e-9);
  EXPECT_TRUE(result["mmd"].contains("hamming"));
}

TEST(EvalCommand, OneRowHasNoError) {
  const TempDir folder;
  const std::vector<std::string> arguments = {
      "eval", WriteModel(folder, "rbm", 10), "--data", WriteRows(folder, 10, 1), "--samples", "0"};
  const CommandResult result = RunOrtEd(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("nats, error not known"), Not(HasSubstr("nan"))));
  EXPECT_TRUE(RunJson(arguments)["nll_error"]["total"].is_null());
}

TEST(EvalCommand, WhatCannotBeComparedIsToldBeforeTheWork) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const auto fails = [&](const std::string& rows, const std::vector<std::string>& options, const char* part) {
    std::vector<std::string> arguments = {"eval", model, "--data", rows};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(result.out, "");
  };
  fails(WriteRows(folder, 10, 1), {}, "--samples must be 0 where the data has fewer than 2 rows");
  fails(WriteRows(folder, 10), {"--samples", "1"}, "--samples must be 2 or more");
  fails(WriteRows(folder, 10), {"--log-z", "exact", "--chains", "8"}, "--chains has no effect");
  fails(WriteRows(folder, 10), {"--estimator", "exact", "--raise-rows", "8"}, "--raise-rows has no effect");
  fails(WriteRows(folder, 10), {"--estimator", "exact", "--samples", "0", "--sampler", "gwg"},
        "--sampler has no effect with --samples 0");
  fails(WriteRows(folder, 10), {"--estimator", "exact", "--samples", "0", "--updates", "3"},
        "--updates has no effect with --samples 0");
  fails(WriteRows(folder, 10), {"--mmd-null", "-1"}, "--mmd-null");
  fails(WriteRows(folder, 10), {"--log-z", "ais", "--raise-rows", "-1"}, "--raise-rows");
  fails(WriteRows(folder, 10), {"--density", "pinwheel"}, "32 variables");
}

TEST(EvalCommand, SetsOfSamplesAreComparedWithShuffles) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const std::string samples = folder.File("samples.npy");
  ASSERT_EQ(RunOrtEd({"sample", model, "-n", "600", "--steps", "50", "--seed", "7", "-o", samples}).exit_code,
            0);
  const json mmd = RunJson({"eval", model, "--data", samples, "--samples", "200", "--sample-sets", "3",
                            "--steps", "40", "--mmd-null", "40"})["mmd"];
  EXPECT_EQ(mmd["sets"], 3);
  EXPECT_LT(mmd["hamming_null"][0], 0);
  EXPECT_GT(mmd["hamming_null"][1], 0);
  // Data of the model itself: the seed is one for which the 5 % case does not occur.
  EXPECT_GT(mmd["hamming"], mmd["hamming_null"][0]);
  EXPECT_LT(mmd["hamming"], mmd["hamming_null"][1]);
  const json other = RunJson({"eval", model, "--data", WriteRows(folder, 10, 400), "--samples", "200",
                              "--steps", "40", "--mmd-null", "40"})["mmd"];
  EXPECT_GT(other["hamming"], other["hamming_null"][1]);
  EXPECT_EQ(RunOrtEd({"eval", model, "--data", samples, "--thin", "0"}).exit_code, 2);
}

TEST(EvalCommand, AnnealingComesNearTheExactLikelihood) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const std::string data = WriteRows(folder, 10);
  const double exact = RunJson({"eval", model, "--data", data, "--samples", "0"})["nll"];
  const json result =
      RunJson({"eval", model, "--data", data, "--samples", "0", "--log-z", "ais", "--temperatures", "50"});
  EXPECT_NEAR(result["nll"], exact, 5 * result["log_z"]["standard_error"].get<double>() + 1e-3);
  EXPECT_NEAR(result["nll_reverse"], exact,
              5 * result["log_z_reverse"]["standard_error"].get<double>() + 0.02);
  EXPECT_NEAR(result["nll_raise"]["value"], exact, 0.1);
}

TEST(EvalCommand, WantsDataOfTheModelsWidth) {
  const TempDir folder;
  const CommandResult result =
      RunOrtEd({"eval", WriteModel(folder, "rbm", 10), "--data", WriteRows(folder, 8)});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("10"));
}

TEST(EvalCommand, DrawsTheEnergiesOfDataAndSamples) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 10, {{"hidden", "6"}});
  const std::string data = WriteRows(folder, 10);
  const auto picture = [&](std::vector<std::string> arguments, const std::string& file) {
    arguments.push_back(file);
    const CommandResult result = RunOrtEd(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return ReadBytes(file);
  };
  const std::string plot =
      picture({"plot", "energies", model, "--data", data, "-o"}, folder.File("plot.png"));
  const std::string without_samples =
      picture({"eval", model, "--data", data, "--samples", "0", "--png"}, folder.File("data.png"));
  const std::string with_samples =
      picture({"eval", model, "--data", data, "--steps", "5", "--png"}, folder.File("both.png"));
  EXPECT_TRUE(without_samples == plot);
  EXPECT_EQ(DecodePng(with_samples).height(), DecodePng(plot).height());
  EXPECT_FALSE(with_samples == plot);
}

TEST(EvalCommand, APictureThatCannotBeWrittenIsToldBeforeAnythingElse) {
  const TempDir folder;
  const CommandResult result = RunOrtEd(
      {"eval", folder.File("none.onnx"), "--data", "none.npy", "--png", folder.File("no/such/folder.png")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("folder.png"));
}

TEST(EvalCommand, InterruptedItLeavesNoPicture) {
  const TempDir folder;
  const TempDir pictures;
  CommandProcess process({"eval", WriteModel(folder, "rbm", 10), "--data", WriteRows(folder, 10), "--steps",
                          "100000000", "--png", pictures.File("energies.png")});
  while (std::filesystem::is_empty(pictures.path()) && process.Running()) usleep(10000);
  process.Signal(SIGINT);
  const CommandResult result = process.Wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("no file was written"));
  EXPECT_TRUE(std::filesystem::is_empty(pictures.path()));
}

TEST(EvalCommand, UnknownNamesListTheCandidates) {
  const TempDir folder;
  const std::string model = WriteModel(folder, "rbm", 4);
  const std::string data = WriteRows(folder, 4);
  ExpectUnknown({"eval", model, "--data", data, "--log-z", "guess"},
                "ais, raise, exact, is, policy, metadata, auto, known");
  ExpectUnknown({"eval", model, "--data", data, "--density", "guess"}, "pinwheel");
}

TEST(EvalCommand, KeepsNoState) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"eval", WriteModel(folder, "rbm", 10), "--data",
                                         WriteRows(folder, 10), "--state", folder.File("state")});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("--state"));
}

TEST(EvalCommand, MetadataWithoutLogZSaysWhatToDo) {
  const TempDir folder;
  const CommandResult result = RunOrtEd(
      {"eval", WriteModel(folder, "rbm", 10), "--data", WriteRows(folder, 10), "--log-z", "metadata"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("ort-ed logz"));
}

}  // namespace
}  // namespace ort_ed
