// The jobs on a model whose variables have several states, against its enumeration.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/metadata.h"
#include "tests/sampler/law_test.h"
#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tools/jobs/evaluate.h"
#include "tools/jobs/explain/explain.h"
#include "tools/jobs/explain/impute.h"
#include "tools/jobs/log_z/estimate_log_z.h"
#include "tools/jobs/sample/sample.h"
#include "tools/jobs/tables/model_rows.h"

namespace ort_ed {
namespace {

constexpr char kHeader[] = "colour,on,size,late,side\n";

class Collected : public RowWriter<float> {
 public:
  void Write(std::span<const float> rows) override { values.insert(values.end(), rows.begin(), rows.end()); }
  void Commit() override {}
  std::vector<float> values;
};

class MixedModel : public ::testing::Test {
 protected:
  MixedModel() {
    const std::string model = MlpModel(variables_.dimension(), {8, 8});
    WriteBytes(dir_.File("model.onnx"),
               WithMetadata(model, metadata_key::kVariables, FormatVariables(variables_)));
    path_.emplace(MakeEnergyFunction(Load().energy_model()));
    law_ = ExactLaw(*path_);
  }

  LoadedModel Load() const { return LoadedModel(dir_.File("model.onnx")); }

  std::string Table(const std::string& rows) const {
    WriteBytes(dir_.File("table.csv"), kHeader + rows);
    return dir_.File("table.csv");
  }

  // The law of all states that agree with a row where it is known.
  Law Conditional(std::span<const uint8_t> row) const {
    Law law(law_.size());
    double total = 0;
    for (size_t s = 0; s < law.size(); ++s) {
      bool fits = true;
      for (size_t i = 0; i < row.size(); ++i) fits &= row[i] == kMissingValue || row[i] == (s >> i & 1);
      if (fits) total += law[s] = law_[s];
    }
    for (double& p : law) p /= total;
    return law;
  }

  // P(bit = 1) in a law.
  double Mean(const Law& law, size_t bit) const {
    double mean = 0;
    for (size_t s = 0; s < law.size(); ++s)
      if ((s >> bit & 1) != 0) mean += law[s];
    return mean;
  }

  TempDir dir_;
  Variables variables_ = MixedVariables();
  std::optional<EnergyPath> path_;
  Law law_;
  Observer quiet_;
};

std::map<uint32_t, double> Count(const std::vector<uint8_t>& rows, size_t dimension) {
  std::map<uint32_t, double> counts;
  for (size_t begin = 0; begin < rows.size(); begin += dimension)
    ++counts[StateNumber(std::vector<float>(rows.begin() + begin, rows.begin() + begin + dimension))];
  return counts;
}

TEST_F(MixedModel, LogZIsThatOfItsStates) {
  const std::vector<float> rows = AllStates(variables_.dimension());
  std::vector<double> energies(law_.size());
  path_->energy->Energy(rows, energies);
  double sum = 0;
  for (size_t s = 0; s < law_.size(); ++s) sum += law_[s] > 0 ? std::exp(-energies[s]) : 0;
  LogZOptions options{.estimator = "auto"};
  const LogZEstimate exact = EstimateLogZ(Load(), options, nullptr, "", quiet_).estimate;
  EXPECT_EQ(exact.method, "exact");
  EXPECT_EQ(exact.samples, 96);
  EXPECT_NEAR(exact.log_z, std::log(sum), 1e-5);
  for (const Choice& estimator : {Choice("ais", {{"temperatures", 100}, {"chains", 300}}),
                                  Choice("raise", {{"temperatures", 100}, {"chains", 300}}),
                                  Choice("is", {{"proposals", 20000}, {"base", "uniform"}})}) {
    options.estimator = estimator;
    const LogZEstimate estimate = EstimateLogZ(Load(), options, nullptr, "", quiet_).estimate;
    EXPECT_NEAR(estimate.log_z, exact.log_z, 5 * estimate.standard_error + 1e-4) << estimator.kind;
  }
  options.estimator = Choice("auto", {{"temperatures", 100}});
  EXPECT_EQ(EstimateLogZ(Load(), options, nullptr, "", quiet_).estimate.samples, 100);  // chains
}

TEST_F(MixedModel, SamplesFollowTheModelAndWhatIsKnown) {
  SampleOptions options;
  options.samples = 4000;
  options.steps = 40;
  for (const char* sampler : {"gibbs", "tempering"}) {
    options.sampler = sampler;
    const SampleResult all = Sample(Load(), {}, options, {}, quiet_);
    ExpectLaw(Count(all.rows, 11), law_, sampler);
    EXPECT_LE(all.diagnostics.jump_distance, 5);  // variables, not bits
  }
  options.sampler = "gibbs";
  const SampleStart start = ReadSampleStart({}, Table("green,,L,,left\n"), variables_);
  const SampleResult some = Sample(Load(), start, options, {}, quiet_);
  std::vector<uint8_t> known = {0, 1, 0, kMissingValue, 0, 0, 1, 0, kMissingValue, 1, 0};
  ExpectLaw(Count(some.rows, 11), Conditional(known), "two unknown");

  const SampleResult exact = Sample(Load(), {}, {.samples = 4000}, {}, quiet_);
  EXPECT_EQ(exact.sampler, "exact");
  ExpectLaw(Count(exact.rows, 11), law_, "exact");
  ExpectLaw(Count(Sample(Load(), start, {.samples = 4000}, {}, quiet_).rows, 11), Conditional(known),
            "exact, two unknown");
}

// A mask has a value for each column of the table, whatever bits stand for it.
TEST_F(MixedModel, AMaskNamesVariables) {
  WriteBytes(dir_.File("mask.csv"), "1,0,0,1,1\n");
  const SampleStart start =
      ReadSampleStart(Table("green,1,L,0,left\nred,0,S,1,right\n"), dir_.File("mask.csv"), variables_);
  EXPECT_EQ(start.clamped, (std::vector<uint8_t>{1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1}));
  WriteBytes(dir_.File("mask.csv"), "1,0,0\n");
  ExpectError(
      ErrorCode::kBadData,
      [&] { ReadSampleStart(Table("green,1,L,0,left\n"), dir_.File("mask.csv"), variables_); },
      "it needs 5 values");
}

TEST_F(MixedModel, ExplainsVariablesByTheirStates) {
  const std::string table = Table("red,1,S,0,left\nblue,0,,1,right\n");
  const RowTable rows = ReadModelRows(table, variables_, {.columns = 11});
  std::vector<RowExplanation> explained;
  const ExplainResult result = Explain(
      Load(), *OpenModelRows(table, variables_, {.columns = 11}).reader, {.top = 2},
      [&](const RowExplanation& row) { explained.push_back(row); }, quiet_);
  ASSERT_EQ(result.rows, 2);
  EXPECT_EQ(explained[0].values, (std::vector<int64_t>{0, 1, 0, 0, 0}));
  EXPECT_EQ(explained[1].values, (std::vector<int64_t>{2, 0, 3, 1, 1}));  // the size is missing
  for (int64_t row = 0; row < 2; ++row) {
    const RowExplanation& explanation = explained[static_cast<size_t>(row)];
    double sum = 0;
    for (int64_t v = 0; v < variables_.size(); ++v) {
      std::vector<uint8_t> others(rows.Row(row).begin(), rows.Row(row).end());
      std::fill_n(others.begin() + variables_.first_bit(v), variables_.bits(v), kMissingValue);
      const Law law = Conditional(others);
      std::vector<float> own(rows.Row(row).begin(), rows.Row(row).end());
      const double expected = std::log(law[StateNumber(own)]);
      EXPECT_NEAR(explanation.log_probabilities[static_cast<size_t>(v)], expected, 1e-4);
      sum += expected;
      for (const Surprise& surprise : explanation.top) {
        if (surprise.variable != v) continue;
        EXPECT_NEAR(surprise.log_probability, expected, 1e-4);
        variables_.SetState(own.data(), v, surprise.expected);
        EXPECT_NEAR(surprise.expected_probability, *std::ranges::max_element(law), 1e-4);
        EXPECT_EQ(law[StateNumber(own)], *std::ranges::max_element(law));
      }
    }
    EXPECT_NEAR(explanation.log_pseudo_likelihood, sum, 1e-3);
    ASSERT_EQ(explanation.top.size(), 2);
    EXPECT_LE(explanation.top[0].log_probability, explanation.top[1].log_probability);
  }
}

TEST_F(MixedModel, HolesHaveTheProbabilitiesOfTheirStates) {
  const std::string table = Table("red,1,NA,0,left\n,?,M,1,\nblue,0,S,1,right\n");
  const RowOptions holes{.columns = 11, .allow_missing = true};
  const RowTable rows = ReadModelRows(table, variables_, holes);
  Collected output;
  const ImputeResult result = Impute(Load(), *OpenModelRows(table, variables_, holes).reader,
                                     {.chains = 300, .steps = 60, .sampler = "gibbs"}, output, quiet_);
  EXPECT_EQ(result.rows, 3);
  EXPECT_EQ(result.missing, 4);  // cells
  ASSERT_EQ(output.values.size(), 33);
  for (int64_t row = 0; row < 3; ++row) {
    const Law law = Conditional(rows.Row(row));
    // One hole is computed exactly, but for rounding; more by chains.
    const double error = row == 0 ? 1e-4 : 5 * result.worst_standard_error;
    for (size_t bit = 0; bit < 11; ++bit)
      EXPECT_NEAR(output.values[static_cast<size_t>(row) * 11 + bit], Mean(law, bit), error) << row << bit;
  }
}

TEST_F(MixedModel, EvaluationCountsVariables) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::string(i % 3 ? "red" : "blue") + "," + std::to_string(i % 2) + "," + (i % 5 ? "S" : "L") +
            "," + std::to_string(i % 4 / 2) + "," + (i % 7 ? "left" : "right") + "\n";
  EvaluateOptions options;
  options.comparison.samples = 50;
  options.comparison.steps = 10;
  const EvaluateResult result =
      Evaluate(Load(), ReadModelRows(Table(text), variables_, {.columns = 11}), options, quiet_);
  EXPECT_EQ(result.dimension, 11);
  EXPECT_EQ(result.variables, 5);
  EXPECT_NEAR(result.BitsPerDimension(), result.Nll() / std::log(2.0) / 5, 1e-12);
  ASSERT_TRUE(result.samples);
  EXPECT_GT(result.samples->hamming, 0);
}

}  // namespace
}  // namespace ort_ed
