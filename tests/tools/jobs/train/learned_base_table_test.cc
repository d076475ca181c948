// A learned base where variables have more than two states.

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/autoregressive.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tests/sampler/small_autoregressive.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/train/base_training.h"
#include "tools/jobs/evaluate.h"
#include "tools/jobs/sample/sample.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

const Choice kMlp("mlp", {{"hidden", "32,32"}});

// exp(-U) of a dense energy, over the rows that can be.
const Law& Truth() {
  static const Law truth = [] {
    Law law = ExactLaw(EnergyPath(DenseEnergy(SmallMixedVariables().dimension(), 0.5, 3)));
    const Law legal = LawOf(*SmallAutoregressive(SmallMixedVariables(), {}, 1));
    double total = 0;
    for (size_t s = 0; s < law.size(); ++s) total += law[s] = legal[s] > 0 ? law[s] : 0;
    for (double& p : law) p /= total;
    return law;
  }();
  return truth;
}

Dataset DrawnTable(int64_t count) {
  const int64_t dimension = SmallMixedVariables().dimension();
  RowTable rows{.rows = count, .columns = dimension, .values = {}};
  for (const float bit : DrawFrom(Truth(), dimension, count, 1))
    rows.values.push_back(static_cast<uint8_t>(bit));
  Dataset dataset = DatasetFromRows(std::move(rows), {}, 0);
  dataset.variables = SmallMixedVariables();
  return dataset;
}

onnx::ModelProto Fit(const TrainOptions& options) {
  Observer quiet;
  return Train(options, DrawnTable(20000), quiet).model;
}

struct Fitted {
  double log_z = 0;       // by enumeration of what can be
  double divergence = 0;  // KL(truth || model)
};

Fitted Compare(const onnx::ModelProto& proto) {
  const LoadedModel model(proto, "trained");
  const std::vector<float> rows = LegalStates(SmallMixedVariables());
  const int64_t dimension = model.dimension();
  std::vector<float> energies(rows.size() / static_cast<size_t>(dimension));
  model.energy_model().Energy(rows, energies);
  double z = 0;
  for (const float energy : energies) z += std::exp(-double{energy});
  Fitted fitted{.log_z = std::log(z)};
  for (size_t s = 0; s < energies.size(); ++s) {
    const double p = Truth()[StateNumber(std::span(rows).subspan(s * dimension, dimension))];
    fitted.divergence += p * (std::log(p) + energies[s] + fitted.log_z);
  }
  return fitted;
}

// The maximum of the likelihood is at most 23 / 40000 from the truth on average, for 20000 rows of 24 states.
TEST(MadeOfATable, LearnsTheLawAndIsNormalised) {
  for (const int64_t orders : {1, 2}) {
    const onnx::ModelProto model = Fit(Options(
        {"made", {{"hidden", "24"}, {"order", "2,1,3,0"}, {"orders", orders}}}, "likelihood", "none"));
    EXPECT_NEAR(Compare(model).log_z, 0, 1e-4);
    EXPECT_LT(Compare(model).divergence, 0.02);
    EXPECT_EQ(GetMetadata(model, metadata_key::kLogZ), "0");
  }
}

TEST(RefillOfATable, LearnsWhatTheBaseMissed) {
  for (const int64_t orders : {1, 2}) {
    const Choice weak(
        "made", {{"base_hidden", "1"}, {"base_steps", 2}, {"base_batch_size", 128}, {"base_orders", orders}});
    TrainOptions options = Options(kMlp, "refill", weak);
    options.run.steps = 1;
    const double at_first = Compare(Fit(options)).divergence;
    options.run.steps = 800;
    const double at_last = Compare(Fit(options)).divergence;
    EXPECT_GT(at_first, 0.05);
    EXPECT_LT(at_last, 0.02);
    EXPECT_LT(at_last, at_first / 3);
  }
}

// A sweep takes an energy for every state, and a draw of the base one in all.
TEST(RefillOfATable, IsHowSamplesAreDrawnWhereNothingIsKnown) {
  TrainOptions options = Options(kMlp, "refill", {"made", {{"base_hidden", "1"}, {"base_steps", 2}}});
  options.run.steps = 1;
  const LoadedModel model(Fit(options), "trained");
  Observer quiet;
  EXPECT_EQ(Sample(model, {}, {.samples = 5, .steps = 5}, {}, quiet).sampler, "refill");
  EXPECT_EQ(Sample(model, {}, {.samples = 5, .steps = 5, .beta = 2}, {}, quiet).sampler, "gibbs");
  EXPECT_EQ(Sample(model, {}, {.samples = 5}, {}, quiet).sampler, "exact");
  const Variables variables = SmallMixedVariables();
  std::vector<uint8_t> first(static_cast<size_t>(model.dimension())), mask(first.size());
  for (int64_t v = 0; v < variables.size(); ++v) variables.SetState(first.data(), v, 0);
  std::fill_n(mask.begin(), variables.bits(0), 1);
  const SampleStart known{.states = first, .clamped = mask, .rows = 1};
  EXPECT_EQ(Sample(model, known, {.samples = 5, .steps = 5}, {}, quiet).sampler, "gibbs");
}

// Rows of a table in a file: both phases, and a base of an earlier run.
class TableRun : public ::testing::Test {
 protected:
  TableRun() {
    std::string text = "size,colour,weight\n";
    for (int row = 0; row < 300; ++row)
      text += std::string(row % 3 == 0 ? "big" : "small") + "," +
              (row % 7 < 2   ? "red"
               : row % 7 < 5 ? "green"
                             : "blue") +
              "," + std::to_string(row * 37 % 100) + "\n";
    WriteBytes(dir_.File("table.csv"), text);
  }

  TrainOptions Small(const Choice& base) const {
    TrainOptions options = Options(kMlp, "refill", base);
    options.data.data = dir_.File("table.csv");
    options.batch.batch_size = 16;
    options.run.steps = 12;
    return options;
  }

  TempDir dir_;
  Observer quiet_;
};

TEST_F(TableRun, TrainsInBothPhasesAndFromAFile) {
  const Choice made("made", {{"base_hidden", "6"}, {"base_steps", 10}, {"base_orders", 2}});
  TrainInFolder(Small(made), dir_.File("first"), ExistingRun::kRefuse, quiet_);
  const LoadedModel first(dir_.File("first/model.onnx"));
  EXPECT_FALSE(first.energy_model().variables().all_binary());
  TrainInFolder(Small(dir_.File("first/base/best.onnx")), dir_.File("second"), ExistingRun::kRefuse, quiet_);
  const LoadedModel second(dir_.File("second/model.onnx"));
  const std::vector<float> rows = MakeBaseDistribution(first.energy_model())->DrawRows(1, 0, 20);
  std::vector<float> a(20), b(20);
  first.energy_model().Energy(rows, a);
  second.energy_model().Energy(rows, b);
  EXPECT_EQ(a, b);
}

TEST_F(TableRun, RefusesWhatDoesNotFit) {
  const auto refuse = [&](TrainOptions options, const std::string& words) {
    options.data.validation_fraction = 0;
    ExpectError(
        ErrorCode::kInvalidArgument,
        [&] { TrainInFolder(options, dir_.File("refused"), ExistingRun::kRefuse, quiet_); }, words);
    EXPECT_FALSE(std::filesystem::exists(dir_.File("refused")));
  };
  const Choice made("made", {{"base_hidden", "6"}, {"base_steps", 10}});
  TrainOptions options = Small(made);
  options.network.base.options["base_order"] = "0,1,1";
  refuse(options, "0 to 2");
  options = Small(made);
  options.contrast.method = {"refill", {{"longest", 4}}};
  refuse(options, "at most the 3 variables");
  TrainInFolder(Small(made), dir_.File("run"), ExistingRun::kRefuse, quiet_);
  std::string other = ReadBytes(dir_.File("table.csv"));
  other.replace(other.find("colour"), 6, "shade_");
  WriteBytes(dir_.File("other.csv"), other);
  options = Small(dir_.File("run/base/best.onnx"));
  options.data.data = dir_.File("other.csv");
  refuse(options, "other variables");
  WriteBytes(dir_.File("other.csv"), "a,b\n0,1\n1,0\n1,1\n0,0\n");
  refuse(options, "bits, the model 2 variables");
}

}  // namespace
}  // namespace ort_ed
