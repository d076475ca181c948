#include "tools/jobs/train/run_setup.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/model_file.h"
#include "runtime/session.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/train/learning/open_masses.h"
#include "tools/jobs/train/setup/describe_training.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

class Listener : public Observer {
 public:
  void OnNotice(const std::string& text) override { notices.push_back(text); }
  void OnWarning(const std::string& text) override { warnings.push_back(text); }
  std::vector<std::string> notices, warnings;
};

class Training : public ::testing::Test {
 protected:
  Training() {
    WriteBytes(dir_.File("rows.csv"), "0,1,1,0\n1,0,1,1\n0,0,0,1\n1,1,0,0\n");
    options_.data.data = dir_.File("rows.csv");
    options_.data.validation_fraction = 0;
    options_.network.model = {"mlp", {{"hidden", "4"}}};
    options_.contrast.method = "bernoulli";
    options_.run.threads = 1;
  }

  RunSetup Begin() { return ort_ed::SetUp(options_, {}, listener_); }
  RunSetup GoOn(const Checkpoint& checkpoint) {
    return ort_ed::SetUp(options_, {.checkpoint = &checkpoint}, listener_);
  }

  std::string BaseOf(const std::string& model, const std::string& base) {
    options_.network.model.kind = model;
    options_.network.base = base;
    if (model == "ising") options_.network.model.options.clear();
    return Begin().options.network.base.kind;
  }

  std::string Stabilisation(const std::string& method, bool exact) {
    options_.contrast.method = {method, {{"exact", exact}}};
    return FixedOptions(Begin().options).at("w");
  }

  static Checkpoint CheckpointOf(RunSetup& setup) {
    return {.step = 3,
            .configuration = FixedOptions(setup.options),
            .data = setup.dataset->hash,
            .model = SerializeModel(setup.model),
            .running = {},
            .state = setup.learner->ReadState()};
  }

  TempDir dir_;
  Listener listener_;
  TrainOptions options_;
};

TEST_F(Training, ABaseIsAddedToModelsWithoutFieldsOfTheirOwn) {
  EXPECT_EQ(BaseOf("mlp", "auto"), "data");
  EXPECT_EQ(BaseOf("mlp", "none"), "none");
  EXPECT_EQ(BaseOf("rbm", "auto"), "none");
  EXPECT_EQ(BaseOf("rbm", "data"), "data");
  EXPECT_EQ(BaseOf("ising", "auto"), "none");
}

TEST_F(Training, AResnetHasTheBaseToo) {
  options_.network.image_shape = "2x2";
  options_.network.model = {"resnet", {{"channels", "2"}, {"blocks", "1"}, {"downsample", "0"}}};
  EXPECT_EQ(Begin().options.network.base.kind, "data");
}

TEST_F(Training, AnEnumerationCountsTheRowOnce) {
  EXPECT_EQ(Stabilisation("grid", true), "0");
  EXPECT_EQ(Stabilisation("grid+erase", true), "0");
  EXPECT_EQ(Stabilisation("grid", false), "1");
  EXPECT_EQ(Stabilisation("grid+bernoulli", true), "1");
  EXPECT_THAT(listener_.warnings, testing::Each(testing::HasSubstr("never compares")));
  listener_.warnings.clear();
  options_.objective.options["w"] = 1.0;  // somebody asked for it
  EXPECT_EQ(Stabilisation("grid", true), "1");
  EXPECT_THAT(listener_.warnings, testing::Contains(testing::HasSubstr("w = 0 is the exact loss")));
}

TEST(OpenMasses, AreThoseThatNoPartOfAMethodCompares) {
  const auto of = [](const std::string& method, OptionMap options = {}) {
    return DescribeOpenMasses(Choice(method, std::move(options)));
  };
  EXPECT_THAT(of("grid"), testing::HasSubstr("an odd and an even number of ones"));
  EXPECT_THAT(of("pool"), testing::HasSubstr("numbers of ones in a block"));
  EXPECT_THAT(of("grid+pool"), testing::HasSubstr("an odd and an even number of ones"));
  EXPECT_THAT(of("neighbourhood", {{"stay", false}}), testing::HasSubstr("odd"));
  EXPECT_THAT(of("neighbourhood", {{"moves", "+.*"}}), testing::HasSubstr("variables that do not move"));
  EXPECT_EQ(of("neighbourhood", {{"moves", "+-*"}}), "");
  EXPECT_EQ(of("neighbourhood+grid", {{"moves", "+.*"}}), "");  // which moves two variables
  for (const char* method : {"neighbourhood", "bernoulli", "erase", "grid+bernoulli", "pool+erase", "cd"})
    EXPECT_EQ(of(method), "") << method;
}

TEST_F(Training, TheConfigurationNamesItsFilesAbsolutely) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  options_.data.data = std::filesystem::relative(dir_.File("rows.csv"));
  options_.data.validation = std::filesystem::relative(dir_.File("rows.csv"));
  options_.network.model = Choice(std::filesystem::relative(dir_.File("mine.onnx")).string());
  const TrainOptions resolved = Begin().options;
  EXPECT_EQ(resolved.data.data, dir_.File("rows.csv"));
  EXPECT_EQ(resolved.data.validation, dir_.File("rows.csv"));
  EXPECT_EQ(resolved.network.model.kind, dir_.File("mine.onnx"));
  EXPECT_EQ(resolved.network.base.kind, "none");
}

TEST_F(Training, AModelOfAFileHasNoOptions) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  options_.network.model.kind = dir_.File("mine.onnx");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Begin(); }, "hidden has no effect with an .onnx file");
}

// Of `scale` and `order` a program knows better; the zeros of `w` are those of a mask.
constexpr char kExported[] = R"(<ir_version: 8, opset_import: ["": 17]>
    exported (float[batch, 4] x) => (float[batch] energy)
    <float[4,4] w = {0, 0, 0, 0, 0.3, 0, 0, 0, 0.1, 0.2, 0, 0, 0.4, 0.5, 0.6, 0}, float[4] v = {1, 3, 2, 5},
     float scale = {0.5}, float[4] order = {0, 1, 2, 3}> {
      h = MatMul(x, w) s = Mul(h, scale) p = Add(s, order) energy = MatMul(p, v)
    })";

std::vector<std::string> TrainedNames(Learner& learner) {
  std::vector<std::string> names;
  for (const StateTensor& tensor : learner.DescribeState())
    if (tensor.kind == "parameters") names.push_back(tensor.parameter);
  return names;
}

TEST_F(Training, ConstantsOfAFileAreNotTrained) {
  using testing::ElementsAre, testing::HasSubstr;
  WriteBytes(dir_.File("mine.onnx"), ModelFromText(kExported));
  options_.network.model = Choice(dir_.File("mine.onnx"));
  RunSetup setup = Begin();
  EXPECT_THAT(TrainedNames(*setup.learner), ElementsAre("w", "v"));
  EXPECT_THAT(listener_.notices, testing::IsSupersetOf({HasSubstr("scale (a number that rescales)"),
                                                        HasSubstr("zeros stay zeros")}));
  const auto state = setup.learner->ReadState();
  const auto mask = std::ranges::find(state, kZeroMaskKind, &StateTensor::kind);
  ASSERT_NE(mask, state.end());
  EXPECT_EQ(std::ranges::count(mask->values, 0.0f), 10);

  options_.network.trainable = {"scale", "w"};
  EXPECT_THAT(TrainedNames(*Begin().learner), ElementsAre("w", "v", "scale"));
}

TEST_F(Training, GoesOnWithWhatItTrainedWhateverItLooksLike) {
  WriteBytes(dir_.File("mine.onnx"), ModelFromText(kExported));
  options_.network.model = Choice(dir_.File("mine.onnx"));
  RunSetup setup = Begin();
  Checkpoint checkpoint = CheckpointOf(setup);
  for (StateTensor& tensor : checkpoint.state)
    if (tensor.parameter == "v" && tensor.kind == "parameters") tensor.values = {0, 1, 2, 3};
  RunSetup resumed = GoOn(checkpoint);
  EXPECT_THAT(TrainedNames(*resumed.learner), testing::ElementsAre("w", "v"));
  EXPECT_EQ(resumed.learner->ReadState().size(), checkpoint.state.size());
}

TEST_F(Training, AnArchitectureHasNoConstantsToFree) {
  options_.network.trainable = {"*"};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Begin(); }, "trainable", "has no effect");
}

TEST_F(Training, GoesOnWithTheStateOfACheckpoint) {
  RunSetup setup = Begin();
  Checkpoint checkpoint = CheckpointOf(setup);
  std::ranges::fill(checkpoint.state.front().values, 0.25f);
  options_.run.steps = 77;  // of the section [run]: may change
  RunSetup resumed = GoOn(checkpoint);
  EXPECT_EQ(resumed.options.run.steps, 77);
  const auto state = resumed.learner->ReadState();
  ASSERT_EQ(state.size(), checkpoint.state.size());
  for (const StateTensor& expected : checkpoint.state) {
    const auto same = std::ranges::find_if(state, [&](const StateTensor& tensor) {
      return tensor.kind == expected.kind && tensor.parameter == expected.parameter;
    });
    ASSERT_NE(same, state.end()) << expected.kind << " of " << expected.parameter;
    EXPECT_EQ(same->values, expected.values) << expected.kind << " of " << expected.parameter;
  }
}

TEST_F(Training, DoesNotGoOnWithAnotherConfiguration) {
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  options_.optimizer.learning_rate *= 2;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); },
      "learning_rate was '0.002' when the run began and is '0.004' now");
  options_.optimizer.learning_rate /= 2;
  options_.contrast.method.options["epsilon"] = 0.2;  // of a kind
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); },
      "epsilon was '0.1' when the run began and is '0.2' now");
}

// Another seed gives other rows, too; the seed is what the user changed.
TEST_F(Training, NamesTheSettingRatherThanTheDataThatItChanges) {
  options_.data.data = "synth:ising:shape=2x2,rows=20,steps=20";
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  options_.batch.seed = 9;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); },
      "seed was '0' when the run began and is '9' now");
}

TEST_F(Training, DoesNotCompareWhatAnOldCheckpointDoesNotTell) {
  RunSetup setup = Begin();
  Checkpoint checkpoint = CheckpointOf(setup);
  checkpoint.configuration.clear();
  options_.optimizer.learning_rate = 0.1;
  EXPECT_NO_THROW(GoOn(checkpoint));  // ResumeInFolder() compares what it does tell: a hash
}

TEST_F(Training, DoesNotGoOnWithOtherData) {
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  std::filesystem::rename(options_.data.data, dir_.File("moved.csv"));
  options_.data.data = dir_.File("moved.csv");
  EXPECT_NO_THROW(GoOn(checkpoint));  // another place, the same rows
  WriteBytes(options_.data.data, "0,1,1,0\n1,0,1,1\n0,0,0,1\n1,1,0,1\n");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { GoOn(checkpoint); }, "moved.csv' is not the data", checkpoint.data);
}

TEST_F(Training, RowsInMemoryMustFitTheModel) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(5, {3}));
  options_.network.model = Choice(dir_.File("mine.onnx"));
  RowTable rows{.rows = 2, .columns = 4, .values = {0, 1, 1, 0, 1, 0, 0, 1}};
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        ort_ed::SetUp(options_,
                      {.dataset = std::make_shared<Dataset>(DatasetFromRows(rows, options_.data, 0))},
                      listener_);
      },
      "the model has 5 variables, but the rows have 4");
}

TEST_F(Training, TheMetadataTellNoPlaceOfThisMachine) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  options_.network.model = Choice(dir_.File("mine.onnx"));
  const RunSetup setup = Begin();
  const std::string training = DescribeTraining(setup, 5);
  EXPECT_THAT(training, testing::HasSubstr(R"("data":"rows.csv")"));
  EXPECT_THAT(training, testing::Not(testing::HasSubstr("/")));
  EXPECT_THAT(SerializeModel(setup.model), testing::Not(testing::HasSubstr(dir_.path())));
}

// What setting up does once, it does once: each of these takes long with a large model.
class SetUpWork : public Training {
 protected:
  struct Work {
    int64_t preparations = PreparationCount();
    int64_t differentiations = DifferentiationCount();
    int64_t sessions = OpenedSessionCount();
  };

  template <typename Call>
  static Work Count(const Call& call) {
    const Work before;
    call();
    const Work after;
    return {after.preparations - before.preparations, after.differentiations - before.differentiations,
            after.sessions - before.sessions};
  }
};

TEST_F(SetUpWork, OfAnArchitecture) {
  const Work work = Count([&] { Begin(); });
  EXPECT_EQ(work.preparations, 1);
  EXPECT_EQ(work.differentiations, 1);
  EXPECT_LE(work.sessions, 4);
}

TEST_F(SetUpWork, OfAUsersModel) {
  WriteBytes(dir_.File("mine.onnx"), MlpModel(4, {3}));
  options_.network.model = Choice(dir_.File("mine.onnx"));
  const Work work = Count([&] { Begin(); });
  EXPECT_EQ(work.preparations, 1);
  EXPECT_EQ(work.differentiations, 1);
  EXPECT_LE(work.sessions, 5);
}

TEST_F(SetUpWork, OfAResumedRun) {
  RunSetup setup = Begin();
  const Checkpoint checkpoint = CheckpointOf(setup);
  const Work work = Count([&] { GoOn(checkpoint); });
  EXPECT_EQ(work.preparations, 1);
  EXPECT_EQ(work.differentiations, 1);
  EXPECT_LE(work.sessions, 4);
}

// Negatives that are all of the class of their row cannot tell how much mass the classes have.
TEST_F(Training, TellsOfMassesThatTheMethodCannotLearn) {
  const auto warnings = [&](const Choice& method) {
    options_.contrast.method = method;
    listener_.warnings.clear();
    const RunSetup setup = Begin();
    EXPECT_EQ(setup.warnings, listener_.warnings);
    return setup.warnings;
  };
  const OptionMap no_stay = {{"stay", false}};
  EXPECT_THAT(warnings("grid"), testing::ElementsAre(testing::AllOf(testing::HasSubstr("odd and an even"),
                                                                    testing::HasSubstr("grid+bernoulli"))));
  EXPECT_THAT(warnings({"pool", {{"window", "2"}}}),
              testing::ElementsAre(testing::HasSubstr("ones in a block")));
  EXPECT_THAT(warnings({"pool+grid", {{"window", "2"}}}),
              testing::ElementsAre(testing::HasSubstr("odd and an even")));
  EXPECT_THAT(warnings({"neighbourhood", no_stay}),
              testing::ElementsAre(testing::HasSubstr("neighbourhood+bernoulli")));
  EXPECT_THAT(warnings("neighbourhood"), testing::IsEmpty());
  EXPECT_THAT(warnings("bernoulli"), testing::IsEmpty());
  EXPECT_THAT(warnings("grid+bernoulli"), testing::IsEmpty());
}

}  // namespace
}  // namespace ort_ed
