#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "tests/trainer/objective/loss_model.h"

namespace ort_ed {
namespace {

struct LossCase {
  double w = 1;
  int64_t negatives = 3;
  double scale = 1;  // of the energies
  bool column = false;
};

constexpr int64_t kGroups = 4;

// The definition, in the widest type there is.
long double ReferenceLoss(const LossCase& test, const std::vector<double>& u) {
  const auto group_rows = static_cast<size_t>(1 + test.negatives);
  long double total = 0;
  for (size_t i = 0; i < u.size(); i += group_rows) {
    long double sum = test.w;
    for (size_t j = 0; j < u.size(); ++j)
      if (j % group_rows != 0) sum += expl(static_cast<long double>(u[i]) - u[j]);
    total += logl(sum) - logl(static_cast<long double>(kGroups * test.negatives));
  }
  return total / kGroups;
}

class SharedLossTest : public testing::TestWithParam<LossCase> {};

TEST_P(SharedLossTest, LossAndWeightsAgreeWithTheDefinition) {
  const LossCase& test = GetParam();
  const int64_t rows = kGroups * (1 + test.negatives);
  TestTensor energies{test.column ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{rows}, {}};
  RandomStream random(7, 2, 0, 0);
  for (int64_t i = 0; i < rows; ++i)
    energies.values.push_back(static_cast<float>(test.scale * (random.UniformDouble() - 0.5)));
  const TestTensors result = TestSession(BuildLossModel({.objective = {"shared-discrepancy", {{"w", test.w}}},
                                                         .negatives = test.negatives,
                                                         .column = test.column}))
                                 .Run({{"energies", energies}, {"group_weight", {{1}, {1.0 / kGroups}}}});
  const std::vector<double>& u = energies.values;
  EXPECT_NEAR(result.at("losses").values[0], static_cast<double>(ReferenceLoss(test, u)),
              2e-6 * (1 + test.scale));
  const TestTensor& c = result.at("c");
  EXPECT_EQ(c.shape, energies.shape);
  const double h = 1e-5;
  for (size_t i = 0; i < u.size(); ++i) {
    std::vector<double> up = u, down = u;
    up[i] += h;
    down[i] -= h;
    const long double slope = (ReferenceLoss(test, up) - ReferenceLoss(test, down)) / (2 * h);
    EXPECT_NEAR(c.values[i], static_cast<double>(slope), 1e-6 * (1 + test.scale / 1e3)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SharedLossTest,
                         testing::Values(LossCase{}, LossCase{.w = 0.3, .negatives = 1},
                                         LossCase{.w = 5, .negatives = 16}, LossCase{.scale = 300},
                                         LossCase{.column = true}));

// Energies so far apart that exp() of their difference is 0 or infinite either way.
TEST(SharedLoss, HugeDifferencesStayFinite) {
  const TestSession session(BuildLossModel({.objective = "shared-discrepancy", .negatives = 1}));
  const auto run = [&](double first, double second) {
    return session.Run({{"energies", {{4}, {first, -1e6, second, 2e6}}}, {"group_weight", {{1}, {0.5}}}});
  };
  TestTensors result = run(3e6, 3e6);
  EXPECT_NEAR(result.at("losses").values[0], 4e6 - std::log(2), 1);
  EXPECT_EQ(result.at("c").values, (std::vector<double>{0.5, -1, 0.5, 0}));
  result = run(-3e6, -3e6);
  EXPECT_NEAR(result.at("losses").values[0], -std::log(2), 1e-6);
  EXPECT_EQ(result.at("c").values, (std::vector<double>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace ort_ed
