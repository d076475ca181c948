#include "tools/jobs/train/validation/best_validation.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace ort_ed {
namespace {

TEST(BestValidation, IsNoneBeforeTheFirst) {
  const BestValidation best;
  EXPECT_EQ(best.step(), 0);
  EXPECT_EQ(best.since(), 0);
  EXPECT_EQ(best.loss(), std::numeric_limits<double>::infinity());
}

TEST(BestValidation, KeepsTheLowestAndCountsThoseAfterIt) {
  BestValidation best;
  EXPECT_TRUE(best.Add(10, 0.5));
  EXPECT_FALSE(best.Add(20, 0.5));  // as low is not lower
  EXPECT_FALSE(best.Add(30, std::nan("")));
  EXPECT_EQ(best.since(), 2);
  EXPECT_EQ(best.step(), 10);
  EXPECT_TRUE(best.Add(40, -0.25));
  EXPECT_EQ(best.since(), 0);
  EXPECT_EQ(best.step(), 40);
  EXPECT_EQ(best.loss(), -0.25);
}

TEST(BestValidation, GoesByTheLikelihoodWhereBothAreKnown) {
  BestValidation best;
  EXPECT_TRUE(best.Add(10, 0.5, 7.0));
  EXPECT_FALSE(best.Add(20, 0.1, 7.5));
  EXPECT_TRUE(best.Add(30, 0.9, 6.5));
  EXPECT_EQ(best.nll(), 6.5);
  EXPECT_FALSE(best.Add(40, 0.95));  // only losses can be compared
  EXPECT_TRUE(best.Add(50, 0.8));
  EXPECT_FALSE(best.nll());
  EXPECT_FALSE(best.Add(60, 0.85, 3.0));
}

// At the bound of the loss the first is the best: nothing tells those after it from one another.
TEST(BestValidation, LossesAtTheirBoundAreEqual) {
  BestValidation best(BestRules{.lowest_loss = -3});
  EXPECT_TRUE(best.Add(0, 0.1, 50));
  EXPECT_TRUE(best.Add(10, -3.001));
  EXPECT_FALSE(best.Add(20, -3.002));
  EXPECT_EQ(best.step(), 10);
}

TEST(BestValidation, ExtraStepsTryNoPatience) {
  BestValidation best(BestRules{.extra_steps = {0, 10, 20}});
  EXPECT_TRUE(best.Add(0, 0.1));
  EXPECT_FALSE(best.Add(10, 0.2));
  EXPECT_FALSE(best.Add(20, 0.2));
  EXPECT_EQ(best.since(), 0);
  EXPECT_FALSE(best.Add(30, 0.2));
  EXPECT_EQ(best.since(), 1);
}

TEST(BestValidation, GoesOnFromTheMetricsOfARun) {
  const std::vector<MetricsLine> metrics = {
      {.step = 10, .values = {{"loss", 0.1}, {kValidationLoss, 0.4}}},
      {.step = 20, .values = {{kValidationLoss, 0.3}}},
      {.step = 25, .values = {{"loss", 0.01}}},
      {.step = 30, .values = {{kValidationLoss, 0.35}, {kValidationNll, 5}, {kValidationDraws, 200}}},
  };
  BestValidation best(metrics);
  EXPECT_EQ(best.step(), 20);
  EXPECT_EQ(best.loss(), 0.3);
  EXPECT_EQ(best.since(), 1);
  EXPECT_FALSE(best.Add(40, 0.31));
  EXPECT_EQ(best.since(), 2);
}

}  // namespace
}  // namespace ort_ed
