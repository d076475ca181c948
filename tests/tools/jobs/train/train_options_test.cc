#include "tools/jobs/train/train_options.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/error_matchers.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/setup/describe_training.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using Texts = std::map<std::string, std::string>;

void Give(TrainOptions& options, const Texts& texts) {
  GivenOptions given;
  for (const auto& [key, text] : texts) given.Add(key, text, "--" + key);
  given.ApplyTo(options);
}

TrainOptions Given(const Texts& texts) {
  TrainOptions options;
  Give(options, texts);
  return options;
}

OptionValue Value(const TrainOptions& options, const std::string& key) {
  return GetOptions(SchemaOf<TrainOptions>(), &options).at(key);
}

TEST(TrainOptions, KeysAreUniqueAndDefaultsAreValid) {
  std::set<std::string> keys;
  for (const Option& option : SchemaOf<TrainOptions>().options)
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
  CheckOptions(TrainOptions());
  CheckTogether(TrainOptions());
}

// A kind's option named like one of the training's own could not be given.
TEST(TrainOptions, KindsTakeNoKeyOfTheTraining) {
  const Schema& schema = SchemaOf<TrainOptions>();
  for (const Option& choice : schema.options) {
    if (choice.kinds == nullptr) continue;
    for (const KindRow& row : choice.kinds().rows)
      for (const Option& option : row.schema->options)
        EXPECT_EQ(schema.Find(choice.prefix + option.key), nullptr) << row.name << " has " << option.key;
  }
}

TEST(TrainOptions, TextSetsEveryType) {
  const TrainOptions options = Given({{"data", "rows.csv"},
                                      {"steps", "123"},
                                      {"learning_rate", "1e-4"},
                                      {"exact", "true"},
                                      {"log_every", "2.5m"},
                                      {"frozen", "bias*,base"},
                                      {"epsilon", "0.05,0.2"},
                                      {"method", "grid+bernoulli"},
                                      {"hidden", "8,8"},
                                      {"activation", "relu"}});
  EXPECT_EQ(options.data.data, "rows.csv");
  EXPECT_EQ(options.run.steps, 123);
  EXPECT_EQ(options.optimizer.learning_rate, 1e-4);
  EXPECT_EQ(Value(options, "exact"), OptionValue(true));
  EXPECT_EQ(options.run.log_every.seconds, 150);
  EXPECT_EQ(options.run.log_every.steps, 0);
  EXPECT_THAT(options.network.frozen, ElementsAre("bias*", "base"));
  EXPECT_EQ(Value(options, "epsilon"), OptionValue(std::vector<double>{0.05, 0.2}));
  EXPECT_EQ(options.contrast.method.kind, "grid+bernoulli");
  EXPECT_EQ(Value(options, "hidden"), OptionValue(std::vector<int64_t>{8, 8}));
  EXPECT_EQ(Value(options, "activation"), OptionValue(std::string("relu")));
}

TEST(TrainOptions, MistakesAreNamedWithWhatIsAllowed) {
  const auto expect = [&](const std::string& key, const std::string& text, const std::string& message) {
    TrainOptions options;
    ExpectError(
        ErrorCode::kInvalidArgument,
        [&] {
          Give(options, {{key, text}});
        },
        message);
    EXPECT_EQ(WriteToml(options), WriteToml(TrainOptions())) << key;
  };
  expect("steps", "many", "steps must be a whole number, not 'many'");
  expect("steps", "3.5", "must be a whole number");
  expect("steps", "99999999999999999999999", "must be a whole number");
  expect("steps", "0", "steps must lie in [1, 1e12], not 0");
  expect("learning_rate", "", "learning_rate must be a number, not ''");
  expect("learning_rate", "nan", "must be a finite number");
  expect("learning_rate", "-1", "learning_rate must lie in (0, inf), not -1");
  expect("epsilon", "1", "must lie in (0, 1)");
  expect("epsilon", "0.1,1", "epsilon must lie in (0, 1), not 1");
  expect("epsilon", "0.1,low", "epsilon must be a number, not '0.1,low'");
  expect("epsilon", ",", "must be a number");
  expect("optimizer", "adamax", "optimizer must be one of adam, adamw, sgd, not 'adamax'");
  std::string methods;
  for (const NegativeKind* kind : NegativeKinds()) methods += std::string(kind->name) + ", ";
  for (const char* method : {"gibbs", "grid+gibbs", "", "+"})
    expect("method", method, "must be one of " + methods + "auto, or several joined by +");
  expect("freeze_zeros", "maybe", "must be true or false");
  expect("log_every", "10x", "must be a number of steps (500) or a time (60s, 5m, 1h), not '10x'");
  expect("log_every", "-5", "must be a number of steps (500) or a time");
}

TEST(TrainOptions, WhatHasNoEffectIsRefused) {
  const auto refuse = [](const Texts& texts, const std::string& message) {
    TrainOptions options;
    try {
      Give(options, texts);
      ADD_FAILURE() << message;
    } catch (const OptionError& error) {
      EXPECT_EQ(error.problem(), OptionError::Problem::kNoEffect);
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  refuse({{"method", "grid"}, {"epsilon", "0.3"}}, "epsilon has no effect with method grid; it belongs to");
  refuse({{"exact", "true"}}, "exact has no effect with method auto; it belongs to grid, neighbourhood");
  refuse({{"momentum", "0.5"}}, "momentum has no effect with optimizer adam");
  refuse({{"optimizer", "sgd"}, {"beta1", "0.5"}}, "beta1 has no effect with optimizer sgd");
  refuse({{"threshold", "0.3"}}, "threshold has no effect with binarise strict");
  refuse({{"model", "ising"}, {"hidden", "4"}}, "hidden has no effect with model ising; it belongs to");
  refuse({{"model", "mine.onnx"}, {"hidden", "4"}}, "hidden has no effect with model mine.onnx");
  refuse({{"l1_parameters", "G"}}, "l1_parameters has no effect with l1 0");
  refuse({{"base", "none"}, {"base_smoothing", "0.1"}}, "base_smoothing has no effect with base none");
}

TEST(TrainOptions, ContradictionsNameTheirOption) {
  const auto refuse = [](const Texts& texts, const std::string& key, const std::string& message) {
    const TrainOptions options = Given(texts);
    try {
      CheckTogether(options);
      MakeNegatives(options.contrast.method, {6, {}});
      ADD_FAILURE() << message;
    } catch (const OptionError& error) {
      EXPECT_EQ(error.key(), key);
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  refuse({{"micro_batch", "500"}}, "micro_batch", "must not exceed batch_size, 256");
  refuse({{"steps", "10"}, {"warmup_steps", "20"}}, "warmup_steps", "must not exceed steps, 10");
  refuse({{"method", "bernoulli"}, {"epsilon_end", "0.1,0.2"}}, "epsilon_end",
         "must have one value for each of epsilon, which has 1");
  refuse({{"data", "-"}}, "data", "must be a file");
  refuse({{"patience", "2"}, {"validate_every", "0"}}, "patience", "counts validations");
  refuse({{"data", "\xff.csv"}}, "data", "must be UTF-8");
}

TEST(TrainOptions, EpsilonGoesToItsEndByEqualFactors) {
  TrainOptions options;
  options.contrast.method = "bernoulli";
  options.run.steps = 5;
  const auto epsilon = [&](int64_t step) {
    const auto negatives = MakeNegatives(options.contrast.method, {6, {}});
    return std::get<std::vector<double>>(negatives->Describe(options.Progress(step)).at("epsilon"));
  };
  const std::vector<double> start = {0.16, 0.1};
  Give(options, {{"epsilon", "0.16,0.1"}});
  EXPECT_EQ(epsilon(3), start);
  Give(options, {{"epsilon_end", "0.01,0.1"}});
  EXPECT_EQ(epsilon(0), start);
  EXPECT_EQ(epsilon(1), start);
  EXPECT_NEAR(epsilon(2)[0], 0.08, 1e-12);
  EXPECT_NEAR(epsilon(3)[0], 0.04, 1e-12);
  EXPECT_NEAR(epsilon(5)[0], 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(epsilon(3)[1], 0.1);
  options.run.steps = 1;
  EXPECT_EQ(epsilon(1), start);
}

TEST(TrainOptions, OnlyMethodsThatCanEnumerateDo) {
  const auto enumerates = [](const std::string& method) {
    const TrainOptions options = Given({{"method", method}, {"exact", "true"}});
    return MakeNegatives(options.contrast.method, {6, {}})->enumerates();
  };
  EXPECT_TRUE(enumerates("grid+neighbourhood"));
  EXPECT_FALSE(enumerates("grid+bernoulli"));
}

TEST(TrainOptions, OnlySomeMayChangeOnResume) {
  const auto fixed = FixedOptions(TrainOptions());
  EXPECT_EQ(FixedOptions(Given({{"steps", "77"}, {"threads", "2"}, {"data", "moved.npy"}})), fixed);
  EXPECT_NE(FixedOptions(Given({{"epsilon", "0.2"}})), fixed);
  EXPECT_EQ(fixed.at("epsilon"), FormatOption(Value(TrainOptions(), "epsilon")));
  for (const Option& option : SchemaOf<TrainOptions>().options)
    EXPECT_EQ(option.may_change,
              option.section == "run" || option.key == "data" || option.key == "validation")
        << option.key;
}

TEST(TrainOptions, LearningRateWarmsUpAndDecays) {
  TrainOptions options;
  options.optimizer.learning_rate = 8;
  options.run.steps = 110;
  options.schedule.warmup_steps = 10;
  options.schedule.decay = "constant";
  EXPECT_DOUBLE_EQ(options.LearningRate(1), 0.8);
  EXPECT_DOUBLE_EQ(options.LearningRate(10), 8);
  EXPECT_DOUBLE_EQ(options.LearningRate(110), 8);
  options.schedule.decay = "linear";
  EXPECT_DOUBLE_EQ(options.LearningRate(5), 4);
  EXPECT_DOUBLE_EQ(options.LearningRate(11), 8);
  EXPECT_DOUBLE_EQ(options.LearningRate(61), 4);
  EXPECT_NEAR(options.LearningRate(110), 0.08, 1e-12);
  options.schedule.decay = "cosine";
  EXPECT_DOUBLE_EQ(options.LearningRate(11), 8);
  EXPECT_NEAR(options.LearningRate(36), 4 * (1 + std::sqrt(0.5)), 1e-12);
  EXPECT_NEAR(options.LearningRate(61), 4, 1e-12);
  options.schedule.final_rate = 0.5;
  EXPECT_NEAR(options.LearningRate(61), 6, 1e-12);
  options.schedule.warmup_steps = 110;  // nothing but warm-up
  EXPECT_DOUBLE_EQ(options.LearningRate(110), 8);
}

}  // namespace
}  // namespace ort_ed
