#include "tools/jobs/train/train_config.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Setting& Find(const std::string& key) {
  for (const Setting& setting : Settings())
    if (setting.key == key) return setting;
  throw std::out_of_range(key);
}

void Set(TrainConfig& config, const std::string& key, const std::string& text) {
  SetFromOption(config, Find(key), text);
}

class ConfigFile : public ::testing::Test {
 protected:
  TrainConfig Read(const std::string& text) {
    std::ofstream(path_) << text;
    TrainConfig config;
    ReadConfig(path_, config);
    return config;
  }

  TempDir dir_;
  std::string path_ = dir_.File("run.toml");
};

TEST(Settings, KeysAreUniqueAndDefaultsAreValid) {
  std::set<std::string> keys;
  for (const Setting& setting : Settings()) EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
  TrainConfig().Validate();
}

TEST(Settings, OptionsSetEveryType) {
  TrainConfig config;
  Set(config, "data", "rows.csv");
  Set(config, "steps", "123");
  Set(config, "learning_rate", "1e-4");
  Set(config, "exact", "true");
  Set(config, "log_every", "2.5m");
  Set(config, "frozen", "bias*,base");
  Set(config, "epsilon", "0.05,0.2");
  Set(config, "method", "pool+bernoulli");
  Set(config, "model_options", "hidden=8,8");
  Set(config, "model_options", "activation=relu");
  EXPECT_EQ(config.data, "rows.csv");
  EXPECT_EQ(config.steps, 123);
  EXPECT_EQ(config.learning_rate, 1e-4);
  EXPECT_TRUE(config.exact);
  EXPECT_EQ(config.log_every.seconds, 150);
  EXPECT_EQ(config.log_every.steps, 0);
  EXPECT_THAT(config.frozen, ElementsAre("bias*", "base"));
  EXPECT_THAT(config.epsilon, ElementsAre(0.05, 0.2));
  EXPECT_THAT(config.Methods(), ElementsAre("pool", "bernoulli"));
  EXPECT_EQ(config.model_options, (Assignments{{"hidden", "8,8"}, {"activation", "relu"}}));
}

TEST(Settings, BadOptionsAreNamedWithWhatIsAllowed) {
  TrainConfig config;
  const auto expect = [&](const std::string& key, const std::string& text, const std::string& message) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { Set(config, key, text); }, message);
  };
  expect("steps", "many", "--steps = \"many\": a whole number is expected");
  expect("steps", "3.5", "a whole number is expected");
  expect("steps", "99999999999999999999999", "a whole number is expected");
  expect("steps", "0", "--steps = 0: must lie in [1, 1e12]");
  expect("learning_rate", "", "--learning-rate = \"\": a number is expected");
  expect("learning_rate", "nan", "a finite number is expected");
  expect("learning_rate", "-1", "--learning-rate = -1: must lie in (0, inf)");
  expect("epsilon", "1", "must lie in (0, 1)");
  expect("epsilon", "0.1,1", "--epsilon = [0.1, 1]: must lie in (0, 1)");
  expect("epsilon", "0.1,low", "--epsilon = \"0.1,low\": a number is expected");
  expect("epsilon", ",", "a number is expected");
  expect("optimizer", "adamax", "--optimizer = \"adamax\": must be one of adam, adamw, sgd");
  for (const char* method : {"gibbs", "grid+gibbs", "", "+"})
    expect("method", method,
           "must be one of bernoulli, pool, grid, neighbourhood, erase, or several joined by +");
  expect("exact", "maybe", "true or false is expected");
  expect("log_every", "10x", "a number of steps (500) or a time (60s, 5m, 1h) is expected");
  expect("log_every", "-5", "must not be negative");
  expect("model_options", "hidden", "NAME=VALUE is expected");
  EXPECT_EQ(config.ToToml(), TrainConfig().ToToml());
  EXPECT_THAT(config.origin, IsEmpty());
}

TEST_F(ConfigFile, ReadsEveryTypeAndKeepsTheRest) {
  const TrainConfig config = Read(R"(
[data]
data = "x.npy"
[model]
model_options = { hidden = "16,16", slope = 0.5, bias = true, depth = 3 }
frozen = ["a", "b*"]
[optimizer]
learning_rate = 1
seed = 7
[perturbation]
exact = true
[run]
log_every = 10
checkpoint_every = "30s"
)");
  EXPECT_EQ(config.data, "x.npy");
  EXPECT_EQ(config.model_options,
            (Assignments{{"hidden", "16,16"}, {"slope", "0.5"}, {"bias", "true"}, {"depth", "3"}}));
  EXPECT_THAT(config.frozen, ElementsAre("a", "b*"));
  EXPECT_EQ(config.learning_rate, 1);
  EXPECT_EQ(config.seed, 7);
  EXPECT_TRUE(config.exact);
  EXPECT_EQ(config.log_every.steps, 10);
  EXPECT_EQ(config.checkpoint_every.seconds, 30);
  EXPECT_EQ(config.negatives, TrainConfig().negatives);
}

TEST_F(ConfigFile, WhatIsWrittenReadsBack) {
  TrainConfig config;
  for (const auto& [key, text] : Assignments{{"data", "/a \"b\"\\c\n\u00e9.npy"},
                                             {"learning_rate", "0.1"},
                                             {"adam_epsilon", "1e-300"},
                                             {"model_options", "odd name=1,2"},
                                             {"log_every", "0.5s"},
                                             {"stay", "false"},
                                             {"seed", "9007199254740993"}})
    Set(config, key, text);
  const std::string text = config.ToToml();
  const TrainConfig read = Read(text);
  EXPECT_EQ(read.ToToml(), text);
  EXPECT_EQ(read.Hash(), config.Hash());
  EXPECT_EQ(read.data, config.data);
  EXPECT_EQ(read.seed, 9007199254740993);
  EXPECT_EQ(read.adam_epsilon, 1e-300);
  EXPECT_EQ(read.log_every.seconds, 0.5);
}

TEST_F(ConfigFile, MistakesAreReportedWithFileAndLine) {
  const auto expect = [&](const std::string& text, const std::string& line, const std::string& message) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { Read(text); }, path_ + ":" + line + ": ", message);
  };
  expect("[optimizer]\nlearning_rat = 1\n", "2",
         "unknown key 'learning_rat'; [optimizer] has optimizer, learning_rate");
  expect("\n[optimiser]\nseed = 1\n", "2", "unknown section 'optimiser'; the sections are data, model,");
  expect("seed = 1\n", "1", "unknown top-level key 'seed'");
  expect("[run]\nseed = 1\n", "2", "'seed' belongs into the section [optimizer]");
  expect("[run]\nsteps = \"many\"\n", "2", "steps: a whole number is expected");
  expect("[run]\nsteps = 10.0\n", "2", "steps: a whole number is expected");
  expect("[run]\nsteps = 0\n", "2", "steps = 0: must lie in [1, 1e12]");
  expect("[optimizer]\n\nlearning_rate = \"fast\"\n", "3", "learning_rate: a number is expected");
  expect("[optimizer]\nlearning_rate = inf\n", "2", "a finite number is expected");
  expect("[optimizer]\noptimizer = \"adamax\"\n", "2", "must be one of adam, adamw, sgd");
  expect("[perturbation]\nexact = 1\n", "2", "exact: true or false is expected");
  expect("[model]\nfrozen = \"a\"\n", "2", "a list of texts is expected");
  expect("[model]\nfrozen = [1]\n", "2", "a list of texts in quotes is expected");
  expect("[model]\nmodel_options = 3\n", "2", "a table is expected");
  expect("[model]\nmodel_options = { a = [1] }\n", "2", "text or a number is expected for 'a'");
  expect("[run]\nlog_every = true\n", "2", "a number of steps (500) or a time");
  expect("[run]\nsteps = \n", "2", "");
  expect("[run]\nsteps = 1\nsteps = 2\n", "3", "");
}

TEST_F(ConfigFile, MissingFileIsNamed) {
  TrainConfig config;
  ExpectError(
      ErrorCode::kIo, [&] { ReadConfig(dir_.File("none.toml"), config); }, "none.toml");
}

TEST_F(ConfigFile, ContradictionsPointToTheirLine) {
  const TrainConfig config = Read("[run]\nsteps = 10\n[schedule]\nwarmup_steps = 20\n");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { config.Validate(); },
      path_ + ":4: warmup_steps = 20: exceeds steps = 10");
}

TEST(TrainConfig, ContradictionsPointToTheirOption) {
  TrainConfig config;
  Set(config, "exact", "true");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { config.Validate(); }, "--exact = true: method = bernoulli");
  config = {};
  Set(config, "micro_batch", "500");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { config.Validate(); }, "exceeds batch_size = 256");
  config = {};
  Set(config, "epsilon_end", "0.1,0.2");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { config.Validate(); },
      "--epsilon-end = [0.1, 0.2]: one value for each of epsilon = 0.1");
  config = {};
  Set(config, "data", "-");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { config.Validate(); }, "write it to a file first");
}

TEST_F(ConfigFile, NumbersMayBeOneOrAListOrText) {
  EXPECT_THAT(Read("[perturbation]\nepsilon = 0.3\n").epsilon, ElementsAre(0.3));
  EXPECT_THAT(Read("[perturbation]\nepsilon = [0.3, 0.5]\n").epsilon, ElementsAre(0.3, 0.5));
  EXPECT_THAT(Read("[perturbation]\nepsilon = \"0.3,0.5\"\n").epsilon, ElementsAre(0.3, 0.5));
  for (const Numbers& levels : {Numbers{0.25}, Numbers{0.1, 0.4}}) {
    TrainConfig config;
    config.epsilon = levels;
    EXPECT_EQ(Read(config.ToToml()).epsilon, levels);
    EXPECT_THAT(Read(config.ToToml()).epsilon_end, IsEmpty());
  }
}

TEST(TrainConfig, EpsilonGoesToItsEndByEqualFactors) {
  TrainConfig config;
  config.steps = 5;
  config.epsilon = {0.16, 0.1};
  EXPECT_EQ(config.Epsilon(3), config.epsilon);
  config.epsilon_end = {0.01, 0.1};
  EXPECT_EQ(config.Epsilon(0), config.epsilon);
  EXPECT_EQ(config.Epsilon(1), config.epsilon);
  EXPECT_NEAR(config.Epsilon(2)[0], 0.08, 1e-12);
  EXPECT_NEAR(config.Epsilon(3)[0], 0.04, 1e-12);
  EXPECT_NEAR(config.Epsilon(5)[0], 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(config.Epsilon(3)[1], 0.1);
  config.steps = 1;
  EXPECT_EQ(config.Epsilon(1), config.epsilon);
}

TEST(TrainConfig, OnlyMethodsThatCanEnumerateDo) {
  TrainConfig config;
  config.exact = true;
  config.method = "grid+neighbourhood";
  EXPECT_TRUE(config.OnlyEnumerates());
  config.method = "grid+bernoulli";
  config.Validate();
  EXPECT_FALSE(config.OnlyEnumerates());
}

TEST(TrainConfig, HashIgnoresWhatMayChangeOnResume) {
  const std::string hash = TrainConfig().Hash();
  TrainConfig config;
  Set(config, "steps", "77");
  Set(config, "threads", "2");
  Set(config, "data", "moved.npy");
  EXPECT_EQ(config.Hash(), hash);
  Set(config, "epsilon", "0.2");
  EXPECT_NE(config.Hash(), hash);
}

TEST(TrainConfig, LearningRateWarmsUpAndDecays) {
  TrainConfig config;
  config.learning_rate = 8;
  config.steps = 110;
  config.warmup_steps = 10;
  config.decay = "constant";
  EXPECT_DOUBLE_EQ(config.LearningRate(1), 0.8);
  EXPECT_DOUBLE_EQ(config.LearningRate(10), 8);
  EXPECT_DOUBLE_EQ(config.LearningRate(110), 8);
  config.decay = "linear";
  EXPECT_DOUBLE_EQ(config.LearningRate(5), 4);
  EXPECT_DOUBLE_EQ(config.LearningRate(11), 8);
  EXPECT_DOUBLE_EQ(config.LearningRate(61), 4);
  EXPECT_NEAR(config.LearningRate(110), 0.08, 1e-12);
  config.decay = "cosine";
  EXPECT_DOUBLE_EQ(config.LearningRate(11), 8);
  EXPECT_NEAR(config.LearningRate(36), 4 * (1 + std::sqrt(0.5)), 1e-12);
  EXPECT_NEAR(config.LearningRate(61), 4, 1e-12);
  config.final_rate = 0.5;
  EXPECT_NEAR(config.LearningRate(61), 6, 1e-12);
  config.warmup_steps = 110;  // nothing but warm-up
  EXPECT_DOUBLE_EQ(config.LearningRate(110), 8);
}

}  // namespace
}  // namespace ort_ed
