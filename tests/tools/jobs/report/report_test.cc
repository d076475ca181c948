#include "tools/jobs/report/report.h"

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
#include "tools/jobs/report/first_layer.h"
#include "tools/jobs/report/statistics.h"
#include "tools/jobs/train/export.h"

namespace ort_ed {
namespace {

ReportData SmallData() {
  ReportData data;
  data.name = "rows.csv";
  data.rows = {4, 3, {0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0}};
  data.names = NameVariables({}, 3);
  return data;
}

class ReportJob : public ::testing::Test {
 protected:
  ModelSource Source(const std::string& bytes) {
    WriteBytes(dir_.File("model.onnx"), bytes);
    return OpenSource(dir_.File("model.onnx"), {});
  }

  TempDir dir_;
  Observer quiet_;
  const ReportData data_ = SmallData();
};

TEST_F(ReportJob, TellsOfModelAndData) {
  const ReportResult result = MakeReport(Source(LinearModel(3)), &data_, {.samples = 400}, quiet_);
  EXPECT_EQ(result.dimension, 3);
  double log_z = 0;
  for (int i = 1; i <= 3; ++i) log_z += std::log1p(std::exp(-i));
  ASSERT_TRUE(result.log_likelihood);
  EXPECT_NEAR(result.log_likelihood->value, -(0 + 1 + 5 + 1) / 4.0 - log_z, 1e-5);
  EXPECT_THAT(result.data_energies, testing::ElementsAre(0, 1, 5, 1));
  EXPECT_EQ(result.sample_energies.size(), 400u);
  EXPECT_EQ(result.noise_energies.size(), 400u);
  EXPECT_THAT(result.most_likely, testing::ElementsAre(0, 1, 3, 2));
  EXPECT_EQ(result.least_likely.front(), 2);
  ASSERT_EQ(result.means.size(), 3u);
  EXPECT_EQ(result.means[0].data, 0.5);
  for (int i = 0; i < 3; ++i) {
    const double p = 1 / (1 + std::exp(i + 1.0));
    EXPECT_NEAR(result.means[static_cast<size_t>(i)].model, p, 5 * std::sqrt(p * (1 - p) / 400));
  }
}

TEST_F(ReportJob, DataMayBeMissing) {
  const ModelSource source = Source(WithMetadata(LinearModel(3), "ort_ed.log_z", "0.5"));
  const ReportResult result = MakeReport(source, nullptr, {.samples = 20}, quiet_);
  EXPECT_FALSE(result.log_likelihood);
  EXPECT_EQ(result.log_z->log_z, 0.5);
  EXPECT_TRUE(result.means.empty() && result.data_energies.empty() && result.most_likely.empty());
}

TEST_F(ReportJob, LikelihoodCanBeLeftOut) {
  EXPECT_FALSE(
      MakeReport(Source(LinearModel(3)), &data_, {.likelihood = false, .samples = 20}, quiet_).log_z);
}

TEST_F(ReportJob, QuadraticModelsHaveCouplings) {
  NewModelOptions options;
  options.architecture = {"ising", {{"init", "lattice"}, {"coupling", 0.4}}};
  options.image_shape = "2x3";
  WriteModel(NewModel(options, quiet_).model, dir_.File("ising.onnx"));
  const ReportResult result = MakeReport(OpenSource(dir_.File("ising.onnx"), {}), nullptr, {}, quiet_);
  EXPECT_EQ(result.couplings.size(), 36u);
  EXPECT_FALSE(result.first_layer);
}

TEST_F(ReportJob, OthersShowTheUnitsOfTheirFirstLayer) {
  const ModelSource source = Source(MlpModel(5, {7, 3}));
  const FirstLayer layer = *ReadFirstLayer(source.model, 4);
  EXPECT_EQ(layer.units, 7);
  EXPECT_EQ(layer.shown, 4);
  ASSERT_EQ(layer.weights.size(), 20u);
  const auto norm = [&](size_t unit) {
    double sum = 0;
    for (size_t i = 0; i < 5; ++i) sum += std::pow(layer.weights[5 * unit + i], 2);
    return sum;
  };
  for (size_t unit = 1; unit < 4; ++unit) EXPECT_GE(norm(unit - 1), norm(unit));
  EXPECT_FALSE(ReadFirstLayer(Source(ConvolutionModel(4, 2, 1)).model, 4));
}

TEST_F(ReportJob, RefusesOtherVariablesAndStops) {
  const ModelSource source = Source(LinearModel(4));
  ExpectError(
      ErrorCode::kBadData, [&] { MakeReport(source, &data_, {}, quiet_); }, "rows.csv", "3", "4");
  CountingObserver hurried(0);
  ExpectError(ErrorCode::kInterrupted, [&] { MakeReport(source, nullptr, {}, hurried); });
}

TEST(CompareCorrelations, AreThoseOfTheRows) {
  const RowTable equal{4, 3, {0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}}, opposite{2, 3, {0, 1, 0, 1, 0, 1}};
  const auto pairs = CompareCorrelations(equal, opposite, Variables::Binary(equal.columns), 0);
  ASSERT_EQ(pairs.size(), 1u);  // the third variable is constant in one of them
  EXPECT_EQ(pairs[0].second, 1);
  EXPECT_DOUBLE_EQ(pairs[0].correlation.data, 1);
  EXPECT_DOUBLE_EQ(pairs[0].correlation.model, -1);
}

}  // namespace
}  // namespace ort_ed
