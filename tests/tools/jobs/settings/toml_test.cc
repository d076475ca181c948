#include "tools/jobs/settings/toml.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/setup/describe_training.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Numbers = std::vector<double>;

class Toml : public ::testing::Test {
 protected:
  GivenOptions ReadGiven(const std::string& text) {
    std::ofstream(path_) << text;
    GivenOptions given;
    ReadToml(path_, SchemaOf<TrainOptions>(), given);
    return given;
  }

  TrainOptions Read(const std::string& text) {
    TrainOptions options;
    ReadGiven(text).ApplyTo(options);
    return options;
  }

  // A mistake at a line of the file: its text, if the file as such is wrong, or the origin of the option.
  void ExpectMistake(const std::string& text, const std::string& line, const std::string& message) {
    const std::string place = path_ + ":" + line;
    try {
      Read(text);
      ADD_FAILURE() << message;
    } catch (const OptionError& error) {
      EXPECT_EQ(error.origin(), place);
      EXPECT_THAT(error.what(), HasSubstr(message));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(place + ": "), HasSubstr(message)));
    }
  }

  static OptionValue Value(const TrainOptions& options, const std::string& key) {
    return GetOptions(SchemaOf<TrainOptions>(), &options).at(key);
  }
  static Numbers Epsilon(const TrainOptions& options, const std::string& key = "epsilon") {
    return std::get<Numbers>(Value(options, key));
  }

  TempDir dir_;
  std::string path_ = dir_.File("run.toml");
};

TEST_F(Toml, ReadsEveryTypeAndKeepsTheRest) {
  const TrainOptions options = Read(R"(
[data]
data = "x.npy"
[model]
model = "ising"
model_options = { init = "lattice", coupling = "0.25", scale = 0.5, reach = 3 }
frozen = ["a", "b*"]
[optimizer]
learning_rate = 1
seed = 7
[perturbation]
method = "grid"
exact = true
[run]
log_every = 10
checkpoint_every = "30s"
)");
  EXPECT_EQ(options.data.data, "x.npy");
  EXPECT_EQ(Value(options, "init"), OptionValue(std::string("lattice")));
  EXPECT_EQ(Value(options, "coupling"), OptionValue(0.25));
  EXPECT_EQ(Value(options, "scale"), OptionValue(0.5));
  EXPECT_EQ(Value(options, "reach"), OptionValue(3.0));
  EXPECT_THAT(options.network.frozen, ElementsAre("a", "b*"));
  EXPECT_EQ(options.optimizer.learning_rate, 1);
  EXPECT_EQ(options.batch.seed, 7);
  EXPECT_EQ(Value(options, "exact"), OptionValue(true));
  EXPECT_EQ(options.run.log_every.steps, 10);
  EXPECT_EQ(options.run.checkpoint_every.seconds, 30);
  EXPECT_EQ(options.contrast.negatives, TrainOptions().contrast.negatives);
}

TEST_F(Toml, WhatIsWrittenReadsBack) {
  TrainOptions options;
  GivenOptions given;
  for (const auto& [key, text] : std::map<std::string, std::string>{{"data", "/a \"b\"\\c\n\u00e9.npy"},
                                                                    {"learning_rate", "0.1"},
                                                                    {"adam_epsilon", "1e-300"},
                                                                    {"hidden", "5,7"},
                                                                    {"log_every", "0.5s"},
                                                                    {"method", "neighbourhood"},
                                                                    {"stay", "false"},
                                                                    {"seed", "9007199254740993"}})
    given.Add(key, text, "");
  given.ApplyTo(options);
  const std::string text = WriteToml(options);
  const TrainOptions read = Read(text);
  EXPECT_EQ(WriteToml(read), text);
  EXPECT_EQ(FixedOptions(read), FixedOptions(options));
  EXPECT_EQ(read.data.data, options.data.data);
  EXPECT_EQ(read.batch.seed, 9007199254740993);
  EXPECT_EQ(read.optimizer.adam_epsilon, 1e-300);
  EXPECT_EQ(read.run.log_every.seconds, 0.5);
  EXPECT_EQ(Value(read, "hidden"), OptionValue(std::vector<int64_t>{5, 7}));
  EXPECT_EQ(Value(read, "stay"), OptionValue(false));
}

TEST_F(Toml, EveryKindReadsBack) {
  for (const Option& choice : SchemaOf<TrainOptions>().options) {
    if (choice.kinds == nullptr) continue;
    for (const KindRow& row : choice.kinds().rows) {
      TrainOptions options;
      choice.Set(&options, row.name);
      const std::string text = WriteToml(options);
      EXPECT_EQ(WriteToml(Read(text)), text) << choice.key << " " << row.name;
    }
  }
}

TEST_F(Toml, WhatHasNoEffectIsNotWritten) {
  const std::string text = WriteToml(TrainOptions());
  EXPECT_THAT(text, AllOf(HasSubstr("\nepsilon = "), HasSubstr("\nbeta1 = ")));
  EXPECT_THAT(text, Not(HasSubstr("momentum")));
  EXPECT_THAT(text, Not(HasSubstr("moves")));
  EXPECT_THAT(text, Not(HasSubstr("l1_form")));
}

// Files of former versions name everything.
TEST_F(Toml, DefaultsMayBeWithoutEffectAndOtherValuesMayNot) {
  Read("[optimizer]\noptimizer = \"adam\"\nmomentum = 0.9\n[perturbation]\nmoves = \"up\"\nwindow = \"\"\n");
  ExpectMistake("[optimizer]\n\nmomentum = 0.5\n", "3", "momentum has no effect with optimizer adam");
  ExpectMistake("[perturbation]\nmethod = \"grid\"\nepsilon = 0.3\n", "3",
                "epsilon has no effect with method grid");
}

TEST_F(Toml, MistakesAreReportedWithFileAndLine) {
  ExpectMistake("[optimizer]\nlearning_rat = 1\n", "2",
                "unknown key 'learning_rat'; [optimizer] has optimizer, learning_rate");
  ExpectMistake("\n[optimiser]\nseed = 1\n", "2",
                "unknown section 'optimiser'; the sections are data, model,");
  ExpectMistake("seed = 1\n", "1", "unknown top-level key 'seed'");
  ExpectMistake("[[data]]\n", "1", "write [data]: [[data]] is a list of sections");
  ExpectMistake("[run]\nseed = 1\n", "2", "'seed' belongs into the section [optimizer]");
  ExpectMistake("[run]\nsteps = \"many\"\n", "2", "steps must be a whole number");
  ExpectMistake("[run]\nsteps = 10.0\n", "2", "steps must be a whole number");
  ExpectMistake("[run]\nsteps = 0\n", "2", "steps must lie in [1, 1e12], not 0");
  ExpectMistake("[optimizer]\n\nlearning_rate = \"fast\"\n", "3", "learning_rate must be a number");
  ExpectMistake("[optimizer]\nlearning_rate = inf\n", "2", "must be a finite number");
  ExpectMistake("[optimizer]\noptimizer = \"adamax\"\n", "2", "must be one of adam, adamw, sgd");
  ExpectMistake("[perturbation]\nmethod = \"grid\"\nexact = 1\n", "3", "exact must be true or false");
  ExpectMistake("[model]\nfrozen = \"a\"\n", "2", "must be a list of texts");
  ExpectMistake("[model]\nfrozen = [1]\n", "2", "must be a list of texts in quotes");
  ExpectMistake("[model]\nmodel_options = 3\n", "2", "model_options must be a table");
  ExpectMistake("[model]\nmodel_options = { hidden = [1] }\n", "2", "hidden must be text or a number");
  ExpectMistake("[model]\nmodel_options = { width = 1 }\n", "2", "unknown key 'width'; [model_options] has");
  ExpectMistake("[model]\nhidden = \"4\"\n", "2", "unknown key 'hidden'");
  ExpectMistake("[run]\nlog_every = true\n", "2", "must be a number of steps or a time");
  ExpectMistake("[run]\nlog_every = -5\n", "2", "must be a number of steps");
  ExpectMistake("[run]\nsteps = \n", "2", "");
  ExpectMistake("[run]\nsteps = 1\nsteps = 2\n", "3", "");
}

TEST_F(Toml, MissingFileIsNamed) {
  GivenOptions given;
  ExpectError(
      ErrorCode::kIo, [&] { ReadToml(dir_.File("none.toml"), SchemaOf<TrainOptions>(), given); },
      "none.toml");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ReadToml(dir_.path(), SchemaOf<TrainOptions>(), given); },
      "is a folder");
}

TEST_F(Toml, ContradictionsPointToTheirLine) {
  const GivenOptions given = ReadGiven("[run]\nsteps = 10\n[schedule]\nwarmup_steps = 20\n");
  TrainOptions options;
  given.ApplyTo(options);
  try {
    CheckTogether(options);
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_EQ(given.GetOrigin(error.key()), path_ + ":4");
    EXPECT_THAT(error.what(), HasSubstr("warmup_steps must not exceed steps, 10"));
  }
}

TEST_F(Toml, NumbersMayBeOneOrAListOrText) {
  EXPECT_THAT(Epsilon(Read("[perturbation]\nepsilon = 0.3\n")), ElementsAre(0.3));
  EXPECT_THAT(Epsilon(Read("[perturbation]\nepsilon = [0.3, 0.5]\n")), ElementsAre(0.3, 0.5));
  EXPECT_THAT(Epsilon(Read("[perturbation]\nepsilon = \"0.3,0.5\"\n")), ElementsAre(0.3, 0.5));
  for (const Numbers& levels : {Numbers{0.25}, Numbers{0.1, 0.4}}) {
    TrainOptions options;
    options.contrast.method.options["epsilon"] = levels;
    const TrainOptions read = Read(WriteToml(options));
    EXPECT_EQ(Epsilon(read), levels);
    EXPECT_EQ(Epsilon(read, "epsilon_end"), Numbers());
  }
}

}  // namespace
}  // namespace ort_ed
