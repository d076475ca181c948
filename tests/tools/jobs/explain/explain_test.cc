#include "tools/jobs/explain/explain.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"
#include "tools/jobs/explain/variable_names.h"
#include "tools/jobs/new_model.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 6;
constexpr int64_t kStates = int64_t{1} << kDimension;

std::vector<uint8_t> AllStates() {
  std::vector<uint8_t> states;
  for (int64_t state = 0; state < kStates; ++state)
    for (int64_t i = 0; i < kDimension; ++i) states.push_back(state >> i & 1);
  return states;
}

std::string ToCsv(const std::vector<uint8_t>& values, int64_t columns, const std::string& header = "") {
  std::string text = header;
  for (size_t i = 0; i < values.size(); ++i) {
    text += values[i] != 0 ? '1' : '0';
    text += (i + 1) % static_cast<size_t>(columns) == 0 ? '\n' : ',';
  }
  return text;
}

class ExplainJob : public ::testing::Test {
 protected:
  ExplainResult Run(const LoadedModel& model, const std::string& rows, const ExplainOptions& options,
                    std::vector<RowExplanation>& explained, Observer&& observer = Observer()) {
    WriteBytes(dir_.File("rows.csv"), rows);
    return Explain(
        model, *OpenRows(dir_.File("rows.csv")), options,
        [&](const RowExplanation& row) { explained.push_back(row); }, observer);
  }

  LoadedModel Load(const std::string& bytes) {
    WriteBytes(dir_.File("model.onnx"), bytes);
    return LoadedModel(dir_.File("model.onnx"));
  }

  // Against probabilities of all states: p(x_i given the others) = p(x) / (p(x) + p(x with i changed)).
  void ExpectLawOfEnumeration(const LoadedModel& model, bool quadratic) {
    const std::vector<uint8_t> states = AllStates();
    std::vector<float> energies(static_cast<size_t>(kStates));
    model.energy_model().Energy(states, energies);
    std::vector<RowExplanation> rows;
    const ExplainResult result = Run(model, ToCsv(states, kDimension), {.top = kDimension}, rows);
    EXPECT_EQ(result.quadratic, quadratic);
    ASSERT_EQ(result.rows, kStates);
    std::vector<double> means(static_cast<size_t>(kDimension));
    for (int64_t state = 0; state < kStates; ++state) {
      const RowExplanation& row = rows[static_cast<size_t>(state)];
      double sum = 0;
      for (int64_t i = 0; i < kDimension; ++i) {
        const double p = std::exp(-energies[static_cast<size_t>(state)]);
        const double other = std::exp(-energies[static_cast<size_t>(state ^ (int64_t{1} << i))]);
        EXPECT_NEAR(row.log_probabilities[static_cast<size_t>(i)], std::log(p / (p + other)), 1e-5);
        sum += std::log(p / (p + other));
        means[static_cast<size_t>(i)] += std::log(p / (p + other)) / kStates;
      }
      EXPECT_EQ(row.row, state);
      EXPECT_NEAR(row.energy, energies[static_cast<size_t>(state)], 1e-5);
      EXPECT_NEAR(row.log_pseudo_likelihood, sum, 1e-4);
    }
    for (size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(result.mean_log_probabilities[i], means[i], 1e-5);
  }

  TempDir dir_;
};

TEST_F(ExplainJob, ConditionalsAreThoseOfTheEnumeratedModel) {
  ExpectLawOfEnumeration(Load(MlpModel(kDimension, {8, 8})), /*quadratic=*/false);
}

TEST_F(ExplainJob, AQuadraticModelIsExplainedByItsCouplings) {
  Observer quiet;
  NewModelOptions options;
  options.architecture = {"ising", {{"init", "lattice"}, {"coupling", 0.4}}};
  options.image_shape = "2x3";
  const LoadedModel model(NewModel(options, quiet).model, "ising");
  ExpectLawOfEnumeration(model, /*quadratic=*/true);
}

TEST_F(ExplainJob, TheMostSurprisingComeFirstWithWhatWasExpected) {
  std::vector<RowExplanation> rows;
  Run(Load(LinearModel(3)), "1,0,1\n", {.top = 2}, rows);  // U = x1 + 2 x2 + 3 x3
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].top.size(), 2u);
  const Surprise& first = rows[0].top[0];
  EXPECT_EQ(first.variable, 2);
  EXPECT_EQ(first.value, 1);
  EXPECT_EQ(first.expected, 0);
  EXPECT_NEAR(first.log_probability, -std::log1p(std::exp(3.0)), 1e-6);
  EXPECT_NEAR(first.expected_probability, 1 / (1 + std::exp(-3.0)), 1e-6);
  const Surprise& second = rows[0].top[1];
  EXPECT_EQ(second.variable, 0);
  EXPECT_EQ(second.expected, 0);
}

TEST_F(ExplainJob, ManyRowsGoThroughInBlocks) {
  constexpr int64_t kRows = 60000;  // more neighbours than are held at once
  std::string text;
  for (int64_t row = 0; row < kRows; ++row) text += row % 3 == 0 ? "1,0,1,0,0,1\n" : "0,0,1,1,0,1\n";
  std::vector<RowExplanation> few, many;
  const LoadedModel model = Load(MlpModel(kDimension, {4}));
  Run(model, "1,0,1,0,0,1\n0,0,1,1,0,1\n", {}, few);
  EXPECT_EQ(Run(model, text, {}, many).rows, kRows);
  ASSERT_EQ(std::ssize(many), kRows);
  for (const int64_t row : {int64_t{0}, int64_t{29127}, int64_t{29128}, int64_t{43690}, kRows - 1}) {
    const RowExplanation& same = few[row % 3 == 0 ? 0 : 1];
    for (size_t i = 0; i < kDimension; ++i)
      EXPECT_NEAR(many[static_cast<size_t>(row)].log_probabilities[i], same.log_probabilities[i], 1e-5);
  }
}

TEST_F(ExplainJob, VariablesOfImpossibleRowsMayNotBeKnown) {
  const LoadedModel model = Load(ModelFromText(R"(
      <ir_version: 8, opset_import: ["": 17]>
      g (float[N, 2] x) => (float[N] energy) { axes = Constant <value = int64[1] {1}> ()
        logs = Log(x)
        sum = ReduceSum <keepdims = 0> (logs, axes)
        energy = Neg(sum) })"));  // only 1,1 is possible
  std::vector<RowExplanation> rows;
  const ExplainResult result = Run(model, "0,0\n0,1\n", {}, rows);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], testing::StartsWith("3 of 4 conditional probabilities are not known"));
  EXPECT_TRUE(rows[0].top.empty());
  ASSERT_EQ(rows[1].top.size(), 1u);
  EXPECT_EQ(rows[1].top[0].variable, 0);
  EXPECT_EQ(rows[1].top[0].expected_probability, 1);
}

TEST_F(ExplainJob, StopsWhereTheObserverAsks) {
  std::vector<RowExplanation> rows;
  const LoadedModel model = Load(MlpModel(kDimension, {4}));
  ExpectError(ErrorCode::kInterrupted, [&] { Run(model, "1,0,1,0,0,1\n", {}, rows, CountingObserver(0)); });
  EXPECT_TRUE(rows.empty());
}

TEST_F(ExplainJob, RefusesOptionsOutsideTheirDomain) {
  std::vector<RowExplanation> rows;
  EXPECT_THROW(Run(Load(LinearModel(3)), "1,0,1\n", {.top = 0}, rows), OptionError);
}

TEST(VariableNames, AreThoseOfTheHeaderElseColumns) {
  const TempDir dir;
  WriteBytes(dir.File("named.csv"), "odor,\"cap\",\n1,0,1\n");
  EXPECT_THAT(NameVariables(Variables(), *OpenRows(dir.File("named.csv"))),
              testing::ElementsAre("odor", "cap", "column 3"));
  WriteBytes(dir.File("bare.csv"), "1,0\n");
  EXPECT_THAT(NameVariables(Variables(), *OpenRows(dir.File("bare.csv"))),
              testing::ElementsAre("column 1", "column 2"));
}

}  // namespace
}  // namespace ort_ed
