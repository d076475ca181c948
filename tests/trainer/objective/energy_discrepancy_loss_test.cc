#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "tests/trainer/objective/loss_model.h"
#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

struct LossCase {
  double w = 1;
  int64_t negatives = 4;
  bool weighted = false;
  double scale = 1;     // of the energies
  bool column = false;  // energies as [rows, 1]
};

onnx::ModelProto LossModel(const LossCase& test) {
  return BuildLossModel({.objective = {"energy-discrepancy", {{"w", test.w}}},
                         .negatives = test.negatives,
                         .weighted = test.weighted,
                         .column = test.column});
}

struct Groups {
  TestTensor energies, log_weights, group_weight;
};

Groups RandomGroups(const LossCase& test, int64_t groups) {
  RandomStream random(7, 1, static_cast<uint64_t>(test.negatives), 0);
  const int64_t rows = groups * (1 + test.negatives);
  Groups result;
  result.energies.shape = test.column ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{rows};
  result.log_weights.shape = {groups, 1 + test.negatives};
  for (int64_t i = 0; i < rows; ++i) {
    result.energies.values.push_back(static_cast<float>(test.scale * (random.UniformDouble() - 0.5)));
    result.log_weights.values.push_back(static_cast<float>(2 * random.UniformDouble() - 1));
  }
  result.group_weight = {{1}, {1.0 / static_cast<double>(groups)}};
  return result;
}

// The definition, in the widest type there is.
long double ReferenceLoss(const LossCase& test, const std::vector<double>& u,
                          const std::vector<double>& log_weights) {
  const auto group_rows = static_cast<size_t>(1 + test.negatives);
  const auto exponent = [&](size_t i, size_t j) {
    return static_cast<long double>(u[i]) - u[i + j] + (test.weighted ? log_weights[i + j] : 0);
  };
  long double total = 0;
  for (size_t i = 0; i < u.size(); i += group_rows) {
    long double largest = 0;
    for (size_t j = 0; j < group_rows; ++j) largest = std::max(largest, exponent(i, j));
    long double sum = test.w * expl(exponent(i, 0) - largest);
    for (size_t j = 1; j < group_rows; ++j) sum += expl(exponent(i, j) - largest);
    total += largest + logl(sum) - logl(static_cast<long double>(test.negatives));
  }
  return total / (static_cast<long double>(u.size()) / group_rows);
}

class EdLossTest : public testing::TestWithParam<LossCase> {};

TEST_P(EdLossTest, LossAndWeightsAgreeWithTheDefinition) {
  const LossCase& test = GetParam();
  const int64_t groups = 5;
  const Groups input = RandomGroups(test, groups);
  const TestTensors result = TestSession(LossModel(test))
                                 .Run({{"energies", input.energies},
                                       {"log_weights", input.log_weights},
                                       {"group_weight", input.group_weight}});
  const std::vector<double>& u = input.energies.values;
  const auto expected = static_cast<double>(ReferenceLoss(test, u, input.log_weights.values));
  EXPECT_NEAR(result.at("losses").values[0], expected, 2e-6 * (1 + std::abs(test.scale)));

  double positive = 0, negative = 0;
  const auto group_rows = static_cast<size_t>(1 + test.negatives);
  for (size_t i = 0; i < u.size(); ++i) (i % group_rows == 0 ? positive : negative) += u[i];
  EXPECT_NEAR(result.at("losses").values[1], positive / groups, 1e-6 * test.scale);
  EXPECT_NEAR(result.at("losses").values[2], negative / (groups * test.negatives), 1e-6 * test.scale);

  const TestTensor& c = result.at("c");
  EXPECT_EQ(c.shape, input.energies.shape);
  const double h = 1e-5;
  for (size_t i = 0; i < u.size(); ++i) {
    std::vector<double> up = u, down = u;
    up[i] += h;
    down[i] -= h;
    const long double slope = (ReferenceLoss(test, up, input.log_weights.values) -
                               ReferenceLoss(test, down, input.log_weights.values)) /
                              (2 * h);
    EXPECT_NEAR(c.values[i], static_cast<double>(slope), 1e-6 * (1 + test.scale / 1e3)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EdLossTest,
                         testing::Values(LossCase{}, LossCase{.w = 0}, LossCase{.w = 0.3, .negatives = 1},
                                         LossCase{.w = 5, .negatives = 32}, LossCase{.weighted = true},
                                         LossCase{.w = 0, .weighted = true},
                                         LossCase{.w = 0, .negatives = 1, .weighted = true},
                                         LossCase{.w = 2, .scale = 30},
                                         LossCase{.w = 0, .negatives = 7, .scale = 500},
                                         LossCase{.scale = 500}, LossCase{.column = true}));

// Energies so far apart that exp() of their difference is 0 or infinite either way.
TEST(EdLoss, HugeDifferencesStayFinite) {
  for (double w : {0.0, 1.0}) {
    const LossCase test{.w = w, .negatives = 2};
    const TestSession session(LossModel(test));
    const auto run = [&](double positive, double a, double b) {
      return session.Run({{"energies", {{3}, {positive, a, b}}}, {"group_weight", {{1}, {1}}}});
    };
    // The positive far above its negatives: the loss is the difference to the lowest, less log M.
    TestTensors result = run(3e6, -1e6, 2e6);
    EXPECT_NEAR(result.at("losses").values[0], 4e6 - std::log(2), 1);
    EXPECT_EQ(result.at("c").values, (std::vector<double>{1, -1, 0}));
    // Far below: w bounds the loss, without it the loss follows.
    result = run(-3e6, 1e6, 2e6);
    if (w > 0) {
      EXPECT_NEAR(result.at("losses").values[0], -std::log(2), 1e-6);
      EXPECT_EQ(result.at("c").values, (std::vector<double>{0, 0, 0}));
    } else {
      EXPECT_NEAR(result.at("losses").values[0], -4e6 - std::log(2), 1);
      EXPECT_EQ(result.at("c").values, (std::vector<double>{1, -1, 0}));
    }
  }
}

TEST(EdLoss, CandidatesOfWeightZeroDoNotCount) {
  const LossCase padded{.w = 0, .negatives = 3, .weighted = true};
  const TestTensors result = TestSession(LossModel(padded))
                                 .Run({{"energies", {{4}, {1, 0.5, -2, -1e6}}},
                                       {"log_weights", {{1, 4}, {0, 0, 0, -1e30}}},
                                       {"group_weight", {{1}, {1}}}});
  EXPECT_NEAR(result.at("losses").values[0], std::log(std::exp(0.5) + std::exp(3.0)) - std::log(3), 1e-5);
  EXPECT_EQ(result.at("c").values[3], 0);
}

}  // namespace
}  // namespace ort_ed
