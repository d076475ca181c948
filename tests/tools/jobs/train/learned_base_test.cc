// A learned base, and networks on it: what they learn, that they can be cut and resumed, what they refuse.

#include <cmath>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/autoregressive.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tests/sampler/test_energies.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/train/base_training.h"
#include "tests/tools/jobs/train/stopper.h"
#include "tools/jobs/evaluate.h"
#include "tools/jobs/train/train.h"
#include "tools/jobs/train/validation/best_validation.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 8;
const Choice kMlp("mlp", {{"hidden", "32,32"}});

const Law& Truth() {
  static const Law law = ExactLaw(EnergyPath(DenseEnergy(kDimension, 1.0, 3)));
  return law;
}

RowTable DrawnRows(int64_t count) {
  RowTable rows{.rows = count, .columns = kDimension, .values = {}};
  for (const float bit : DrawFrom(Truth(), kDimension, count, 1))
    rows.values.push_back(static_cast<uint8_t>(bit));
  return rows;
}

std::vector<double> StateEnergies(const onnx::ModelProto& proto) {
  std::vector<float> energies(Truth().size());
  LoadedModel(proto, "trained").energy_model().Energy(AllStates(kDimension), energies);
  return {energies.begin(), energies.end()};
}

double LogPartition(const std::vector<double>& energies) {
  double sum = 0;
  for (const double energy : energies) sum += std::exp(-energy);
  return std::log(sum);
}

// KL(truth || model), over all states.
double Divergence(const onnx::ModelProto& proto) {
  const std::vector<double> energies = StateEnergies(proto);
  const double log_z = LogPartition(energies);
  double divergence = 0;
  for (size_t s = 0; s < energies.size(); ++s)
    divergence += Truth()[s] * (std::log(Truth()[s]) + energies[s] + log_z);
  return divergence;
}

TrainResult Fit(const TrainOptions& options, int64_t rows = 20000) {
  Observer quiet;
  return Train(options, DatasetFromRows(DrawnRows(rows), options.data, 0), quiet);
}

// The maximum of the likelihood is at most 255 / 40000 = 0.006 from the truth on average, for 20000 rows and
// any model of 8 bits.
TEST(Made, LearnsTheLawByLikelihoodAndStaysNormalised) {
  for (const Choice& made :
       {Choice("made", {{"hidden", "40"}}), Choice("made", {{"hidden", "24,24"}, {"order", "random"}}),
        Choice("made", {{"hidden", "24"}, {"orders", 3}})}) {
    const TrainResult result = Fit(Options(made, "likelihood", "none"));
    EXPECT_NEAR(LogPartition(StateEnergies(result.model)), 0, 1e-4);
    EXPECT_LT(Divergence(result.model), 0.02);
    EXPECT_EQ(GetMetadata(result.model, metadata_key::kLogZ), "0");
    EXPECT_TRUE(IsNormalised(result.model));
  }
}

// Rows of two kinds, each with a rule of its own: the networks of a mixture share them out.
TEST(Made, NetworksOfAMixtureShareOutTheRows) {
  RowTable rows{.rows = 4000, .columns = kDimension, .values = {}};
  for (int64_t row = 0; row < rows.rows; ++row) {
    RandomStream random(1, 2, 3, static_cast<uint64_t>(row));
    const bool kind = random.Below(2) == 1;
    for (int64_t i = 0; i < kDimension; ++i)
      rows.values.push_back(static_cast<uint8_t>((random.Below(10) == 0) != ((i % 2 == 1) == kind)));
  }
  const auto fit = [&](int64_t orders) {
    TrainOptions options = Options({"made", {{"hidden", "1"}, {"orders", orders}}}, "likelihood", "none");
    options.optimizer.learning_rate = 0.05;
    options.run.steps = 400;
    Observer quiet;
    return Train(options, DatasetFromRows(rows, options.data, 0), quiet);
  };
  const TrainResult alone = fit(1), mixture = fit(2);
  EXPECT_NEAR(LogPartition(StateEnergies(mixture.model)), 0, 1e-4);
  // The entropy is that of the kind and of eight independent mistakes, less what both kinds may have made.
  const double entropy = std::log(2.0) - kDimension * (0.1 * std::log(0.1) + 0.9 * std::log(0.9));
  EXPECT_LT(*mixture.validation_loss, entropy + 0.1);
  EXPECT_LT(*mixture.validation_loss, *alone.validation_loss + 0.02);
}

// A base that cannot know about couplings, and a network that learns them: what is left of the divergence is
// the network's.
TEST(Refill, LearnsWhatTheBaseMissed) {
  for (const int64_t orders : {1, 3}) {
    SCOPED_TRACE(orders);
    const Choice weak(
        "made",
        {{"base_hidden", "1"}, {"base_steps", 20}, {"base_batch_size", 128}, {"base_orders", orders}});
    TrainOptions options = Options(kMlp, "refill", weak);
    options.run.steps = 1;
    const double at_first = Divergence(Fit(options).model);
    options.run.steps = 800;
    const TrainResult result = Fit(options);
    EXPECT_GT(at_first, 0.1);
    EXPECT_LT(Divergence(result.model), 0.02);
    EXPECT_LT(Divergence(result.model), at_first / 5);
    // The estimate of held-out likelihoods is that of the model: entropy plus divergence, within the noise of
    // 1000 rows and 2000 draws.
    double entropy = 0;
    for (const double p : Truth()) entropy -= p * std::log(p);
    ASSERT_TRUE(result.validation_likelihood);
    EXPECT_NEAR(result.validation_likelihood->nll, entropy, 0.2);
  }
}

TEST(Draws, LearnWhatTheBaseMissed) {
  const Choice weak("made", {{"base_hidden", "1"}, {"base_steps", 20}, {"base_batch_size", 128}});
  TrainOptions options = Options(kMlp, {"draws", {{"fresh", 1.0}}}, weak);
  options.run.steps = 1;
  EXPECT_GT(Divergence(Fit(options).model), 0.1);
  options.run.steps = 800;
  EXPECT_LT(Divergence(Fit(options).model), 0.02);
}

// A network that learns nothing good: the best model is the base alone, that of step 0.
TEST(Draws, TheBestMayBeTheBaseAlone) {
  TrainOptions options = Options(kMlp, "draws", {"made", {{"base_hidden", "20"}, {"base_steps", 300}}});
  options.optimizer.learning_rate = 0.5;
  options.run.steps = 30;
  options.run.validate_every = {.steps = 10};
  const TrainResult result = Fit(options, 400);
  EXPECT_TRUE(result.best.known());
  EXPECT_EQ(result.best.step(), 0);
  EXPECT_THAT(result.learning.text,
              testing::AnyOf(testing::HasSubstr("best.onnx is the base alone"),
                             testing::HasSubstr("less likely than under the base alone")));
}

// Few rows: what is found before the base is learned is told after it, too.
TEST(Draws, WarningsOutliveTheBase) {
  TrainOptions options = Options(kMlp, "draws", {"made", {{"base_hidden", "4"}, {"base_steps", 5}}});
  options.run.steps = 5;
  const TrainResult result = Fit(options, 40);
  EXPECT_THAT(result.warnings, testing::Contains(testing::HasSubstr("4 rows are held out")));
  EXPECT_FALSE(result.learning.known);
}

TEST(Refill, EveryLengthAloneStillLearnsConditionals) {
  const Choice weak("made", {{"base_hidden", "1"}, {"base_steps", 20}, {"base_batch_size", 128}});
  TrainOptions options = Options(kMlp, {"refill", {{"shortest", kDimension}, {"longest", kDimension}}}, weak);
  EXPECT_LT(Divergence(Fit(options).model), 0.03);
}

// A folder to train in, with rows in a file.
class BaseRun : public ::testing::Test {
 protected:
  BaseRun() {
    const RowTable rows = DrawnRows(300);
    std::string text;
    for (size_t i = 0; i < rows.values.size(); ++i)
      text += std::to_string(rows.values[i]) + ((i + 1) % kDimension == 0 ? "\n" : ",");
    WriteBytes(dir_.File("rows.csv"), text);
  }

  TrainOptions Small(const Choice& method = "refill") const {
    TrainOptions options = Options(kMlp, method,
                                   {"made",
                                    {{"base_hidden", "6"},
                                     {"base_steps", 10},
                                     {"base_dropout", 0.3},
                                     {"base_order", "random"},
                                     {"base_orders", 2}}});
    options.data.data = dir_.File("rows.csv");
    options.batch.batch_size = 16;
    options.run.steps = 12;
    options.run.validate_every = {.steps = 4};
    return options;
  }

  void Begin(const TrainOptions& options, const std::string& run, Observer& observer) {
    TrainInFolder(options, dir_.File(run), ExistingRun::kRefuse, observer);
  }

  std::string Refusal(const TrainOptions& options) {
    try {
      Begin(options, "refused", quiet_);
    } catch (const Error& error) {
      EXPECT_FALSE(std::filesystem::exists(dir_.File("refused")));
      return error.what();
    }
    return "";
  }

  TempDir dir_;
  Observer quiet_;
};

TEST_F(BaseRun, GoesOnBitForBitFromBothPhases) {
  for (const Choice& method : {Choice("refill"), Choice("draws", {{"kept", 100}}), Choice("bernoulli"),
                               Choice("pcd", {{"chain_steps", 1}})}) {
    SCOPED_TRACE(method.kind);
    const TrainOptions options = Small(method);
    const std::string whole = "whole-" + method.kind;
    Begin(options, whole, quiet_);
    for (const int64_t steps : {4, 10, 17}) {  // the base has ten
      SCOPED_TRACE(steps);
      const std::string cut = "cut-" + method.kind + std::to_string(steps);
      Stopper stopper(steps);
      EXPECT_FALSE(TrainInFolder(options, dir_.File(cut), ExistingRun::kRefuse, stopper).complete);
      TrainOptions again;
      ReadRunOptions(dir_.File(cut)).ApplyTo(again);
      EXPECT_TRUE(ResumeInFolder(again, dir_.File(cut), quiet_).complete);
      for (const char* file : {"/model.onnx", "/best.onnx", "/base/best.onnx", "/checkpoints/step-12.ckpt"})
        EXPECT_TRUE(ReadBytes(dir_.File(cut + file)) == ReadBytes(dir_.File(whole + file))) << file;
    }
  }
}

// Few rows are learned by heart long before the first validation that is due. Of more rows each is seen
// later.
TEST_F(BaseRun, AreValidatedEarlyWhereRowsAreFew) {
  const auto validated = [&](int64_t batch) {
    TrainOptions options = Small("draws");
    options.batch.batch_size = batch;
    options.run.steps = 30;
    options.run.validate_every = {.steps = 500};
    const std::string run = "batches-of-" + std::to_string(batch);
    Begin(options, run, quiet_);
    std::vector<int64_t> steps;
    for (const MetricsLine& line : ReadMetrics(dir_.File(run) + "/" + MetricsLog::FileName()))
      for (const auto& [name, value] : line.values)
        if (name == kValidationLoss) steps.push_back(line.step);
    return steps;
  };
  EXPECT_THAT(validated(32), testing::ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(validated(16), testing::ElementsAre(0, 20, 30));
}

TEST_F(BaseRun, ABaseMayComeFromAnEarlierRun) {
  Begin(Small(), "first", quiet_);
  TrainOptions options = Small();
  options.network.base = dir_.File("first/base/best.onnx");
  Begin(options, "second", quiet_);
  EXPECT_TRUE(ReadBytes(dir_.File("second/model.onnx")).size() > 0);
  EXPECT_FALSE(std::filesystem::exists(dir_.File("second/base")));
  const LoadedModel first(dir_.File("first/model.onnx")), second(dir_.File("second/model.onnx"));
  std::vector<float> a(Truth().size()), b(Truth().size());
  first.energy_model().Energy(AllStates(kDimension), a);
  second.energy_model().Energy(AllStates(kDimension), b);
  EXPECT_EQ(a, b);
}

// A model that was trained on a learned base goes on from there.
TEST_F(BaseRun, AModelMayBringItsBase) {
  Begin(Small(), "first", quiet_);
  TrainOptions options = Small();
  options.network.model = dir_.File("first/model.onnx");
  options.network.base = "auto";
  Begin(options, "second", quiet_);
  EvaluateOptions evaluate;
  evaluate.comparison.samples = 0;
  const RowTable rows = DrawnRows(50);
  const auto base_nll = [&](const std::string& run) {
    return Evaluate(LoadedModel(dir_.File(run + "/model.onnx")), rows, evaluate, quiet_).base_nll->value;
  };
  EXPECT_EQ(base_nll("first"), base_nll("second"));
}

TEST_F(BaseRun, ARefusedResumeLeavesTheConfiguration) {
  Stopper stopper(4);
  EXPECT_FALSE(TrainInFolder(Small(), dir_.File("run"), ExistingRun::kRefuse, stopper).complete);
  const std::string before = ReadBytes(dir_.File("run/config.toml"));
  TrainOptions again;
  ReadRunOptions(dir_.File("run")).ApplyTo(again);
  WriteBytes(dir_.File("other.csv"), "0,1,1,0,1,1,0,1\n1,0,1,0,1,1,0,1\n0,0,0,0,1,1,0,1\n");
  again.data.data = dir_.File("other.csv");
  again.data.validation_fraction = 0;
  EXPECT_THROW(ResumeInFolder(again, dir_.File("run"), quiet_), Error);
  EXPECT_EQ(ReadBytes(dir_.File("run/config.toml")), before);
}

// What is called normalised must have the form of it.
TEST_F(BaseRun, ATamperedNetworkIsNotNormalised) {
  Begin(Small(), "run", quiet_);
  onnx::ModelProto model = LoadedModel(dir_.File("run/base/best.onnx")).proto();
  onnx::TensorProto* direct = FindInitialiser(model, "base/direct.weight");
  const std::vector<float> values(static_cast<size_t>(ElementCount(*direct)), 0.5f);
  direct->set_raw_data(values.data(), values.size() * sizeof(float));
  const LoadedModel tampered(model, "tampered");
  EvaluateOptions evaluate;
  evaluate.comparison.samples = 0;
  ExpectError(
      ErrorCode::kBadModel, [&] { Evaluate(tampered, DrawnRows(10), evaluate, quiet_); }, "not normalised");
}

TEST_F(BaseRun, ReplacingARunRemovesItsBaseToo) {
  Begin(Small(), "run", quiet_);
  TrainOptions options = Small("bernoulli");
  options.network.base = "data";
  TrainInFolder(options, dir_.File("run"), ExistingRun::kReplace, quiet_);
  EXPECT_FALSE(std::filesystem::exists(dir_.File("run/base/best.onnx")));
}

TEST_F(BaseRun, EvaluationTellsTheBasesOwnLikelihood) {
  Begin(Small(), "run", quiet_);
  const LoadedModel model(dir_.File("run/model.onnx")), base(dir_.File("run/base/best.onnx"));
  const RowTable rows = DrawnRows(100);
  EvaluateOptions options;
  options.comparison.samples = 0;
  const EvaluateResult with = Evaluate(model, rows, options, quiet_);
  const EvaluateResult alone = Evaluate(base, rows, options, quiet_);
  ASSERT_TRUE(with.base_nll);
  EXPECT_NEAR(with.base_nll->value, alone.Nll(), 1e-4);
  EXPECT_EQ(alone.log_z.log_z, 0);
}

TEST_F(BaseRun, RefusesWhatDoesNotFit) {
  TrainOptions options = Small();
  options.network.base = "data";
  EXPECT_THAT(Refusal(options), testing::HasSubstr("refill needs a learned base"));
  options = Small("likelihood");
  options.network.base = "none";
  EXPECT_THAT(Refusal(options), testing::HasSubstr("likelihood needs a normalised model"));
  options = Small();
  options.network.base.options["base_order"] = "0,1,2,3,4,5,6,6";
  EXPECT_THAT(Refusal(options),
              testing::AllOf(testing::HasSubstr("base_order"), testing::HasSubstr("each once")));
  options = Small({"refill", {{"longest", 9}}});
  EXPECT_THAT(Refusal(options), testing::HasSubstr("at most the 8 variables"));

  Begin(Small("refill"), "run", quiet_);
  options = Small();
  options.network.base = dir_.File("run/model.onnx");
  EXPECT_THAT(Refusal(options), testing::HasSubstr("must be a normalised model"));
  WriteBytes(dir_.File("narrow.csv"), "0,1,1\n1,0,1\n0,0,0\n1,1,0\n");
  options = Small();
  options.data.data = dir_.File("narrow.csv");
  options.data.validation_fraction = 0;
  options.network.base = dir_.File("run/base/best.onnx");
  EXPECT_THAT(Refusal(options), testing::HasSubstr("has 8 variables, the model 3"));
}

}  // namespace
}  // namespace ort_ed
