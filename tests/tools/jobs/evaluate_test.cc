#include "tools/jobs/evaluate.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4;

class EvaluateJob : public ::testing::Test {
 protected:
  EvaluateJob() { WriteBytes(dir_.File("model.onnx"), LinearModel(kDimension)); }

  EvaluateResult Run(const EvaluateOptions& options, const RowTable& data) const {
    Observer observer;
    return Evaluate(LoadedModel(dir_.File("model.onnx")), data, options, observer);
  }

  TempDir dir_;
  // Energies 0, 1, 2 and 10.
  const RowTable data_{4, kDimension, {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1}};
};

TEST_F(EvaluateJob, LikelihoodIsEnergyPlusLogZ) {
  const EvaluateResult result = Run({.comparison = {.samples = 0}}, data_);
  EXPECT_THAT(result.data_energies, testing::ElementsAre(0, 1, 2, 10));
  EXPECT_DOUBLE_EQ(result.energy.value, 13.0 / 4);
  double log_z = 0;
  for (int i = 1; i <= kDimension; ++i) log_z += std::log1p(std::exp(-i));
  EXPECT_NEAR(result.Nll(), 13.0 / 4 + log_z, 1e-6);
  EXPECT_DOUBLE_EQ(result.NllError(), result.energy.standard_error);
  EXPECT_DOUBLE_EQ(result.BitsPerDimension(), result.Nll() / (4 * std::log(2.0)));
  EXPECT_FALSE(result.reverse || result.raise_nll || result.samples || result.entropy);
}

TEST_F(EvaluateJob, AnnealingTellsBothSides) {
  const Choice ais = {"ais", {{"temperatures", 40}}};
  const EvaluateResult result =
      Run({.estimator = ais, .raise_rows = 3, .comparison = {.samples = 50, .steps = 10}}, data_);
  const double exact = Run({.comparison = {.samples = 0}}, data_).Nll();
  EXPECT_NEAR(result.Nll(), exact, 5 * result.log_z.standard_error);
  ASSERT_TRUE(result.reverse && result.raise_nll && result.samples);
  EXPECT_NEAR(result.reverse->log_z, result.log_z.log_z, 0.1);
  EXPECT_NEAR(result.raise_nll->value, exact, 0.5);
  EXPECT_EQ(result.samples->energies.size(), 50u);
  EXPECT_FALSE(Run({.estimator = ais, .raise_rows = 0, .comparison = {.samples = 0}}, data_).raise_nll);
}

TEST_F(EvaluateJob, WarningsAreToldAndKept) {
  CountingObserver observer;
  const EvaluateResult result =
      Evaluate(LoadedModel(dir_.File("model.onnx")), data_,
               {.estimator = {"ais", {{"chains", 3}}}, .comparison = {.samples = 0}}, observer);
  ASSERT_GE(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], testing::StartsWith("log Z: "));
  EXPECT_EQ(observer.warnings, result.warnings);
}

TEST_F(EvaluateJob, RefusesWhatCannotBeBeforeTheWork) {
  const RowTable one{1, kDimension, {0, 0, 0, 0}};
  EXPECT_THROW(Run({}, one), OptionError);
  EXPECT_THROW(Run({.density = "pinwheel", .comparison = {.samples = 0}}, data_), OptionError);
  EXPECT_THROW(Run({.raise_chains = 0}, data_), OptionError);
  EXPECT_TRUE(std::isnan(Run({.comparison = {.samples = 0}}, one).NllError()));
}

TEST_F(EvaluateJob, StopsWhereTheObserverAsks) {
  CountingObserver observer(5);
  const EvaluateResult result =
      Evaluate(LoadedModel(dir_.File("model.onnx")), data_, {.estimator = "ais"}, observer);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.samples);
  EXPECT_EQ(result.data_energies.size(), static_cast<size_t>(data_.rows));
  EXPECT_TRUE(Run({.estimator = "exact", .comparison = {.samples = 0}}, data_).complete);
}

}  // namespace
}  // namespace ort_ed
