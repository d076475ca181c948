// Ratio matching and concrete score: losses of differences to neighbours.

#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

constexpr double kClip = 1.5;

double RatioMatching(double difference) { return std::pow(1 / (1 + std::exp(-difference)), 2); }

double ConcreteScore(double difference) {
  const auto score = [](double d) { return std::exp(2 * d) - 2 * std::exp(-d); };
  if (difference < -kClip) return score(-kClip);
  const double slope = 2 * std::exp(2 * kClip) + 2 * std::exp(-kClip);
  return difference > kClip ? score(kClip) + slope * (difference - kClip) : score(difference);
}

struct LossCase {
  const char* name;
  Choice objective;
  double (*term)(double difference);
  bool weighted = false;
  int64_t negatives = 3;
  bool column = false;  // energies as [rows, 1]
};

onnx::ModelProto LossModel(const LossCase& test) {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("loss");
  GraphBuilder builder(model);
  const std::vector<int64_t> shape = test.column ? std::vector<int64_t>{-1, 1} : std::vector<int64_t>{-1};
  const Value energies = builder.Input("energies", shape);
  const Value weights = test.weighted
                            ? builder.Input("log_weights", std::vector<int64_t>{-1, 1 + test.negatives})
                            : Value{&builder, ""};
  const Value group_weight = builder.Input("group_weight", std::vector<int64_t>{1});
  const ObjectiveNodes loss =
      MakeObjective(test.objective)->Emit({energies, test.negatives, weights, group_weight});
  builder.Output(builder.Named(loss.losses, "losses"), std::vector<int64_t>{3});
  builder.Output(builder.Named(loss.energy_weights, "c"), shape);
  return model;
}

// The mean over groups of sum_j omega_j f(U - U_j).
double ReferenceLoss(const LossCase& test, const std::vector<double>& u,
                     const std::vector<double>& log_weights) {
  const auto group_rows = static_cast<size_t>(1 + test.negatives);
  double total = 0;
  for (size_t i = 0; i < u.size(); ++i) {
    if (i % group_rows == 0) continue;
    const double omega = test.weighted ? std::exp(log_weights[i]) : 1;
    total += omega * test.term(u[i - i % group_rows] - u[i]);
  }
  return total / (static_cast<double>(u.size()) / static_cast<double>(group_rows));
}

class NeighbourLossTest : public testing::TestWithParam<LossCase> {};

TEST_P(NeighbourLossTest, LossAndWeightsAgreeWithTheDefinition) {
  const LossCase& test = GetParam();
  const int64_t groups = 6, rows = groups * (1 + test.negatives);
  RandomStream random(7, 1, 0, 0);
  TestTensor energies{test.column ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{rows}, {}};
  TestTensor log_weights{{groups, 1 + test.negatives}, {}};
  for (int64_t i = 0; i < rows; ++i) {
    energies.values.push_back(static_cast<float>(6 * random.UniformDouble() - 2));
    log_weights.values.push_back(static_cast<float>(2 * random.UniformDouble() - 1));
  }
  TestTensors inputs = {{"energies", energies},
                        {"group_weight", TestTensor{{1}, {1.0 / static_cast<double>(groups)}}}};
  if (test.weighted) inputs["log_weights"] = log_weights;
  const TestTensors result = TestSession(LossModel(test)).Run(inputs);

  const std::vector<double>& u = energies.values;
  const double scale = 1 + std::abs(ReferenceLoss(test, u, log_weights.values));
  EXPECT_NEAR(result.at("losses").values[0], ReferenceLoss(test, u, log_weights.values), 1e-5 * scale);
  double positive = 0, negative = 0;
  for (int64_t i = 0; i < rows; ++i) (i % (1 + test.negatives) == 0 ? positive : negative) += u[i];
  EXPECT_NEAR(result.at("losses").values[1], positive / groups, 1e-5);
  EXPECT_NEAR(result.at("losses").values[2], negative / static_cast<double>(groups * test.negatives), 1e-5);

  EXPECT_EQ(result.at("c").shape, energies.shape);
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> above = u, below = u;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    const double slope =
        (ReferenceLoss(test, above, log_weights.values) - ReferenceLoss(test, below, log_weights.values)) /
        2e-5;
    EXPECT_NEAR(result.at("c").values[i], slope, 1e-5 * scale) << i;
  }
}

const Choice kConcreteScore("concrete-score", {{"ratio_clip", kClip}});

INSTANTIATE_TEST_SUITE_P(Cases, NeighbourLossTest,
                         testing::Values(LossCase{"ratios", "ratio-matching", RatioMatching},
                                         LossCase{"weighted_ratios", "ratio-matching", RatioMatching, true},
                                         LossCase{"one_ratio", "ratio-matching", RatioMatching, false, 1,
                                                  true},
                                         LossCase{"scores", kConcreteScore, ConcreteScore},
                                         LossCase{"weighted_scores", kConcreteScore, ConcreteScore, true, 5}),
                         [](const auto& test) { return test.param.name; });

// Of two states with probabilities a and b, over a grid of differences: where the loss is lowest.
double BestDifference(double (*term)(double), double a, double b) {
  double best = 0, lowest = INFINITY;
  for (double d = -4; d <= 4; d += 1e-3) {
    const double loss = a * term(d) + b * term(-d);
    if (loss < lowest) lowest = loss, best = d;
  }
  return best;
}

TEST(NeighbourLoss, IsLowestAtTheRatioOfProbabilities) {
  for (const double ratio : {0.25, 0.5, 1.0, 3.0, 4.0}) {
    EXPECT_NEAR(BestDifference(RatioMatching, 1, ratio), std::log(ratio), 2e-3);
    EXPECT_NEAR(BestDifference(ConcreteScore, 1, ratio), std::log(ratio), 2e-3);
  }
  EXPECT_NEAR(BestDifference(ConcreteScore, 1, 20), kClip, 2e-3);  // beyond the clip: at it
  EXPECT_NEAR(BestDifference(ConcreteScore, 20, 1), -kClip, 2e-3);
}

}  // namespace
}  // namespace ort_ed
