#include "ort_ed/diagnostics.h"

#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"

namespace ort_ed {
namespace {

// Stationary AR(1) chains with correlation rho^lag: the effective sample size is n (1 - rho) / (1 + rho).
std::vector<double> AutoregressiveChains(double rho, int64_t chains, int64_t length, double shift = 0) {
  std::vector<double> trace;
  for (int64_t chain = 0; chain < chains; ++chain) {
    RandomStream random(5, 6, 0, chain);
    double x = Normal(random);
    for (int64_t t = 0; t < length; ++t) {
      trace.push_back(x + shift * static_cast<double>(chain));
      x = rho * x + std::sqrt(1 - rho * rho) * Normal(random);
    }
  }
  return trace;
}

class EffectiveSampleSizeOf : public testing::TestWithParam<double> {};

TEST_P(EffectiveSampleSizeOf, AutoregressiveChains) {
  constexpr int64_t kChains = 32, kLength = 2000;
  const double rho = GetParam();
  const double expected = kChains * kLength * (1 - rho) / (1 + rho);
  // The estimate sums about three autocorrelation times of lags; its relative error is near sqrt(4 w tau / n)
  // with a window of w = 6 / (1 - |rho|) lags (Sokal 1997, (3.19)): below 6 % here; allowed are five such
  // errors.
  const double n = static_cast<double>(kChains * kLength);
  const double error = std::sqrt(4 * 6 / (1 - std::abs(rho)) / n);
  EXPECT_NEAR(EffectiveSampleSize(AutoregressiveChains(rho, kChains, kLength), kChains) / expected, 1,
              5 * error);
}

INSTANTIATE_TEST_SUITE_P(Rho, EffectiveSampleSizeOf, testing::Values(-0.3, 0.0, 0.5, 0.9));

TEST(SplitRHat, IsOneForMixedChains) {
  // The square root of 1 + (between - expected) / within: its error is about 1 / (2 n) * sqrt(2 / m), here
  // 4e-5.
  EXPECT_NEAR(SplitRHat(AutoregressiveChains(0, 32, 2000), 32), 1, 1e-3);
}

TEST(SplitRHat, SeesChainsThatDisagree) {
  // Means 0, 1, 2, 3: variance 5/3 (4/3 * 5/4 with split halves: 10/7) next to 1 within.
  EXPECT_NEAR(SplitRHat(AutoregressiveChains(0, 4, 2000, 1.0), 4), std::sqrt(1 + 10.0 / 7), 0.02);
  EXPECT_LT(EffectiveSampleSize(AutoregressiveChains(0, 4, 2000, 1.0), 4), 16);
}

TEST(SplitRHat, SeesADrift) {
  std::vector<double> trace = AutoregressiveChains(0, 4, 2000);
  for (size_t t = 0; t < trace.size(); ++t) trace[t] += static_cast<double>(t % 2000) / 500;
  EXPECT_GT(SplitRHat(trace, 4), 1.3);
}

TEST(DiagnosticsOf, DegenerateTraces) {
  const std::vector<double> constant(100, 3.0);
  EXPECT_TRUE(std::isnan(EffectiveSampleSize(constant, 4)));
  EXPECT_TRUE(std::isnan(SplitRHat(constant, 4)));
  const std::vector<double> two = {1, 2};
  EXPECT_TRUE(std::isnan(EffectiveSampleSize(two, 1)));
  EXPECT_TRUE(std::isnan(EffectiveSampleSize({}, 0)));
  std::vector<double> stuck(100, 0.0);
  std::fill(stuck.begin() + 50, stuck.end(), 1.0);
  EXPECT_EQ(SplitRHat(stuck, 2), INFINITY);
}

TEST(TraceRecorder, AgreesWithTheWholeTraceInConstantMemory) {
  constexpr int64_t kChains = 8, kSteps = 1500;
  const EnergyPath target(LatticeEnergy(3, 3, 0.1, 0.0));
  Chains chains = StartChains(target, kChains, 1);
  const auto sampler = MakeSampler("gibbs", target);
  sampler->Step(chains, 50);
  TraceRecorder recorder;
  const StepCounters before = chains.counters;
  std::vector<double> energies(kChains * kSteps);
  for (int64_t t = 0; t < kSteps; ++t) {
    sampler->Step(chains, 1);
    recorder.Record(chains);
    for (int64_t c = 0; c < kChains; ++c) energies[c * kSteps + t] = chains.energies[c];
  }
  StepCounters spent = chains.counters;
  spent.energy_evaluations -= before.energy_evaluations;
  spent.proposals -= before.proposals;
  spent.acceptances -= before.acceptances;
  const Diagnostics result = recorder.Summarise(spent, 2.0);
  EXPECT_EQ(result.chains, kChains);
  EXPECT_EQ(result.draws, kSteps / 4);
  EXPECT_DOUBLE_EQ(result.energy_ess, EffectiveSampleSize(energies, kChains));
  EXPECT_NEAR(result.energy_r_hat, 1, 0.02);
  EXPECT_NEAR(result.coordinate_r_hat, 1, 0.05);
  // Every fourth draw of chains that forget within a sweep or two is independent.
  EXPECT_LE(result.coordinate_ess, kChains * kSteps / 4 * 1.5);
  EXPECT_GT(result.coordinate_ess, kChains * kSteps / 4 * 0.5);
  EXPECT_EQ(result.energy_evaluations, kChains * kSteps * 9);
  EXPECT_DOUBLE_EQ(result.ess_per_second, result.energy_ess / 2);
  // In a sweep a bit flips at most once, so flips are distances.
  EXPECT_NEAR(result.jump_distance, 9 * result.acceptance_rate, 0.02);
  EXPECT_TRUE(std::isnan(result.swap_rate));
}

// A state that one chain of four met once would say that they disagree; that a variable changed counts once.
TEST(TraceRecorder, FollowsVariablesAndNotTheirRareStates) {
  const Variables variables(
      {{.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "green", "blue", "rare"}}});
  TraceRecorder recorder(variables), by_bits;
  Chains chains;
  chains.count = 4;
  chains.dimension = 4;
  chains.energies.resize(4);
  RandomStream random(1, 2, 0, 0);
  int64_t changes = 0;
  for (int64_t t = 0; t < 40; ++t) {
    const std::vector<float> before = chains.states;
    chains.states.assign(16, 0);
    for (int64_t chain = 0; chain < 4; ++chain) {
      const bool rare = chain == 2 && t >= 20;  // of which nothing varies in either half
      chains.state(chain)[rare ? 3 : random.Below(2)] = 1;
      if (!before.empty() &&
          !std::equal(&before[chain * 4], &before[chain * 4 + 4], &chains.states[chain * 4]))
        ++changes;
    }
    recorder.Record(chains);
    by_bits.Record(chains);
  }
  const Diagnostics result = recorder.Summarise({}, 1), of_bits = by_bits.Summarise({}, 1);
  EXPECT_DOUBLE_EQ(result.jump_distance, static_cast<double>(changes) / (4 * 39));
  EXPECT_DOUBLE_EQ(of_bits.jump_distance, 2 * result.jump_distance);
  EXPECT_EQ(of_bits.coordinate_r_hat, INFINITY);
  EXPECT_LT(result.coordinate_r_hat, 2);
}

}  // namespace
}  // namespace ort_ed
