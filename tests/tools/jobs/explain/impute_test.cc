#include "tools/jobs/explain/impute.h"

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

constexpr int64_t kDimension = 6;
constexpr uint8_t kHole = kMissingValue;

class Collected : public RowWriter<float> {
 public:
  void Write(std::span<const float> rows) override { values.insert(values.end(), rows.begin(), rows.end()); }
  void Commit() override {}
  std::vector<float> values;
};

class ImputeJob : public ::testing::Test {
 protected:
  ImputeJob() { WriteBytes(dir_.File("model.onnx"), MlpModel(kDimension, {8, 8})); }

  ImputeResult Run(const std::string& text, const ImputeOptions& options, std::vector<float>& filled,
                   Observer&& observer = Observer()) {
    WriteBytes(dir_.File("holes.csv"), text);
    Collected output;
    const ImputeResult result =
        Impute(LoadedModel(dir_.File("model.onnx")),
               *OpenRows(dir_.File("holes.csv"), {.columns = kDimension, .allow_missing = true}), options,
               output, observer);
    filled = output.values;
    return result;
  }

  // By summing over all ways to fill the holes.
  std::vector<double> Exact(const std::vector<uint8_t>& row) {
    std::vector<uint8_t> states;
    for (int state = 0; state < 1 << kDimension; ++state) {
      bool fits = true;
      for (int i = 0; i < kDimension; ++i)
        fits &= row[static_cast<size_t>(i)] == kHole || row[static_cast<size_t>(i)] == (state >> i & 1);
      for (int i = 0; fits && i < kDimension; ++i) states.push_back(state >> i & 1);
    }
    std::vector<float> energies(states.size() / kDimension);
    EnergyModel::FromFile(dir_.File("model.onnx")).Energy(states, energies);
    std::vector<double> ones(kDimension);
    double z = 0;
    for (size_t s = 0; s < energies.size(); ++s) {
      const double p = std::exp(-energies[s]);
      z += p;
      for (size_t i = 0; i < kDimension; ++i) ones[i] += p * states[s * kDimension + i];
    }
    for (double& p : ones) p /= z;
    return ones;
  }

  TempDir dir_;
};

TEST_F(ImputeJob, OneHoleHasItsConditionalProbabilityExactly) {
  std::vector<float> filled;
  const ImputeResult result =
      Run("1,0,,1,0,1\n0,0,1,1,1,\n1,1,1,1,1,1\n", {.chains = 2, .steps = 10}, filled);
  EXPECT_EQ(result.rows, 3);
  EXPECT_EQ(result.missing, 2);
  EXPECT_LT(result.worst_standard_error, 1e-5);
  EXPECT_NEAR(filled[2], Exact({1, 0, kHole, 1, 0, 1})[2], 1e-5);
  EXPECT_NEAR(filled[11], Exact({0, 0, 1, 1, 1, kHole})[5], 1e-5);
  EXPECT_EQ(filled[0], 1);
  EXPECT_EQ(filled[6], 0);
  EXPECT_EQ(filled[12], 1);
}

TEST_F(ImputeJob, ManyHolesHaveTheProbabilitiesOfTheEnumeratedModel) {
  std::vector<float> filled;
  const ImputeResult result = Run("1,,,,0,1\n,,,,,\n", {.chains = 500, .steps = 100}, filled);
  const std::vector<double> first = Exact({1, kHole, kHole, kHole, 0, 1}),
                            second = Exact(std::vector<uint8_t>(kDimension, kHole));
  EXPECT_GT(result.mean_standard_error, 0);
  EXPECT_LT(result.worst_standard_error, 0.02);
  for (size_t i = 0; i < kDimension; ++i) {
    EXPECT_NEAR(filled[i], first[i], 5 * result.worst_standard_error) << i;
    EXPECT_NEAR(filled[kDimension + i], second[i], 5 * result.worst_standard_error) << i;
  }
}

TEST_F(ImputeJob, RowsDoNotDependOnTheirNeighboursOrThreads) {
  std::vector<float> alone, together, threads;
  Run("1,,,,0,1\n", {.seed = 3, .threads = 1}, alone);
  Run("1,,,,0,1\n0,,,,1,1\n", {.seed = 3, .threads = 1}, together);
  Run("1,,,,0,1\n0,,,,1,1\n", {.seed = 3, .threads = 2}, threads);
  for (size_t i = 0; i < kDimension; ++i) EXPECT_NEAR(alone[i], together[i], 1e-5);
  EXPECT_EQ(together, threads);
}

TEST_F(ImputeJob, NothingMissingIsAnError) {
  std::vector<float> filled;
  ExpectError(
      ErrorCode::kBadData, [&] { Run("1,0,0,1,0,1\n", {}, filled); }, "nothing to fill in");
  EXPECT_THROW(Run("1,,0,1,0,1\n", {.chains = 1}, filled), OptionError);
}

TEST_F(ImputeJob, StopsWhereTheObserverAsks) {
  std::vector<float> filled;
  ExpectError(ErrorCode::kInterrupted, [&] { Run("1,,0,1,0,1\n", {}, filled, CountingObserver(2)); });
}

}  // namespace
}  // namespace ort_ed
