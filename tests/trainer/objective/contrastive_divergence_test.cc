#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "tests/trainer/objective/loss_model.h"
#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

struct LossCase {
  double energy_l2 = 0;
  int64_t negatives = 1;
  bool column = false;  // energies as [rows, 1]
};

onnx::ModelProto LossModel(const LossCase& test) {
  return BuildLossModel({.objective = {"contrastive-divergence", {{"energy_l2", test.energy_l2}}},
                         .negatives = test.negatives,
                         .column = test.column});
}

// The definition: the mean over groups of U+ - mean U- + l2 (U+^2 + mean U-^2).
double ReferenceLoss(const LossCase& test, const std::vector<double>& u) {
  const auto group_rows = static_cast<size_t>(1 + test.negatives);
  double total = 0;
  for (size_t i = 0; i < u.size(); ++i) {
    const bool positive = i % group_rows == 0;
    const double share = positive ? 1 : 1.0 / static_cast<double>(test.negatives);
    total += share * ((positive ? 1 : -1) * u[i] + test.energy_l2 * u[i] * u[i]);
  }
  return total / (static_cast<double>(u.size()) / static_cast<double>(group_rows));
}

class CdLossTest : public testing::TestWithParam<LossCase> {};

TEST_P(CdLossTest, LossAndWeightsAgreeWithTheDefinition) {
  const LossCase& test = GetParam();
  const int64_t groups = 5, rows = groups * (1 + test.negatives);
  RandomStream random(7, 1, 0, 0);
  TestTensor energies{test.column ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{rows}, {}};
  for (int64_t i = 0; i < rows; ++i)
    energies.values.push_back(static_cast<float>(4 * random.UniformDouble() - 1));
  const TestTensors result =
      TestSession(LossModel(test))
          .Run({{"energies", energies},
                {"group_weight", TestTensor{{1}, {1.0 / static_cast<double>(groups)}}}});
  const std::vector<double>& u = energies.values;
  EXPECT_NEAR(result.at("losses").values[0], ReferenceLoss(test, u), 1e-5);

  double positive = 0, negative = 0;
  for (int64_t i = 0; i < rows; ++i) (i % (1 + test.negatives) == 0 ? positive : negative) += u[i];
  EXPECT_NEAR(result.at("losses").values[1], positive / groups, 1e-5);
  EXPECT_NEAR(result.at("losses").values[2], negative / static_cast<double>(groups * test.negatives), 1e-5);

  EXPECT_EQ(result.at("c").shape, energies.shape);
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> above = u, below = u;
    above[i] += 1e-4;
    below[i] -= 1e-4;
    const double slope = (ReferenceLoss(test, above) - ReferenceLoss(test, below)) / 2e-4;
    EXPECT_NEAR(result.at("c").values[i], slope, 1e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CdLossTest,
                         testing::Values(LossCase{}, LossCase{.negatives = 3},
                                         LossCase{.energy_l2 = 0.1, .negatives = 4},
                                         LossCase{.energy_l2 = 2, .negatives = 1, .column = true}));

}  // namespace
}  // namespace ort_ed
