#include "tools/jobs/sample/chains.h"

#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

EnergyPath TwoSpins() {
  return EnergyPath(
      std::make_shared<QuadraticEnergy>(0, std::vector<double>{0.5, -0.5}, std::vector<double>{0, 1, 1, 0}));
}

TEST(AdvanceChains, IsTheSameAsOneCall) {
  const EnergyPath target = TwoSpins();
  Chains portions = StartChains(target, 8, 5), once = portions;
  int64_t reported = 0;
  Pace pace;
  EXPECT_TRUE(AdvanceChains(*MakeSampler("gibbs", target), portions, 1001, pace, [&](int64_t steps) {
    EXPECT_GT(steps, 0);
    reported += steps;
    return true;
  }));
  MakeSampler("gibbs", target)->Step(once, 1001);
  EXPECT_EQ(reported, 1001);
  EXPECT_EQ(portions.states, once.states);
  EXPECT_EQ(portions.step, once.step);
}

TEST(AdvanceChains, StopsWhereItsWatchThrows) {
  const EnergyPath target = TwoSpins();
  Chains chains = StartChains(target, 8, 5);
  Pace pace;
  const auto stop = [](int64_t) -> bool { throw Error(ErrorCode::kInterrupted, "enough"); };
  ExpectError(ErrorCode::kInterrupted,
              [&] { AdvanceChains(*MakeSampler("gibbs", target), chains, 1000, pace, stop); });
  EXPECT_LT(chains.step, 1000u);
}

TEST(AdvanceChains, StopsWhereItIsAskedTo) {
  const EnergyPath target = TwoSpins();
  Chains chains = StartChains(target, 8, 5);
  Pace pace;
  EXPECT_FALSE(
      AdvanceChains(*MakeSampler("gibbs", target), chains, 1000, pace, [](int64_t) { return false; }));
  EXPECT_EQ(chains.step, 1u);
}

}  // namespace
}  // namespace ort_ed
