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

// Reference: ArviZ 0.20.0 with SciPy, ess(method="bulk"), ess(method="tail"), ess(method="mean"),
// rhat(method="rank") and rhat(method="split") of the same draws.
struct Reference {
  const char* name;
  int64_t chains, length;
  double rho, shift;
  double (*map)(double);
  double bulk, tail, mean, rank_r_hat, split_r_hat;
};

// x <- rho x + u - 1/2 with u of a linear congruential generator, seeded by the chain.
std::vector<double> ReferenceDraws(const Reference& reference) {
  std::vector<double> trace;
  for (int64_t chain = 0; chain < reference.chains; ++chain) {
    uint64_t state = chain + 1;
    double x = 0;
    for (int64_t t = 0; t < reference.length; ++t) {
      state = (state * 1103515245 + 12345) % 2147483648;
      x = reference.rho * x + static_cast<double>(state) / 2147483648.0 - 0.5;
      trace.push_back(reference.map(x + reference.shift * static_cast<double>(chain)));
    }
  }
  return trace;
}

TEST(DiagnosticsOf, KnownDrawsAreThoseOfArviZ) {
  const auto same = [](double x) { return x; };
  const std::vector<Reference> references = {
      {"mixed", 4, 100, 0.6, 0, same, 110.275303248, 135.148875204, 108.201955848, 1.02400419647,
       1.01632559397},
      {"shifted, odd length", 4, 101, 0.3, 0.3, same, 8.67371700011, 57.0987368555, 8.43513883187,
       1.453133604, 1.47490252046},
      {"slow", 3, 60, 0.95, 0, same, 7.82743793953, 45.6641834269, 6.48748600309, 1.39743901903,
       1.54158973554},
      {"alternating", 4, 80, -0.7, 0, same, 801.647993062, 356.733971523, 801.647993062, 1.00637396141,
       0.990523170497},
      {"ties", 3, 50, 0.5, 0, [](double x) { return std::floor(5 * x); }, 43.5341530016, 89.5970009372,
       43.11969714, 1.02735990881, 1.02813274247},
      {"bits", 4, 60, 0.8, 0, [](double x) { return x > 0.1 ? 1.0 : 0.0; }, 44.4316263756, 44.4316263756,
       44.4316263756, 1.07322984172, 1.07322984172},
      {"heavy tails", 2, 40, 0.5, 0, [](double x) { return 1 / (x * x * x); }, 81.0072744582, 97.2424442974,
       83.5007788912, 0.993055730127, 1.00808364303},
      {"short", 4, 8, 0.2, 0, same, 48.1647993062, 48.1647993062, 48.1647993062, 1.20483468793, 1.3299066009},
  };
  for (const Reference& reference : references) {
    SCOPED_TRACE(reference.name);
    const std::vector<double> trace = ReferenceDraws(reference);
    const auto near = [](double value, double expected) { EXPECT_NEAR(value, expected, 1e-6 * expected); };
    near(BulkEffectiveSampleSize(trace, reference.chains), reference.bulk);
    near(TailEffectiveSampleSize(trace, reference.chains), reference.tail);
    near(EffectiveSampleSize(trace, reference.chains), reference.mean);
    near(RankRHat(trace, reference.chains), reference.rank_r_hat);
    near(SplitRHat(trace, reference.chains), reference.split_r_hat);
  }
}

// Chains with one mean and other spreads.
TEST(RankRHat, SeesChainsThatDifferInSpread) {
  std::vector<double> trace = AutoregressiveChains(0, 4, 500);
  for (size_t t = 0; t < 500; ++t) trace[t] *= 5;
  EXPECT_LT(SplitRHat(trace, 4), 1.02);
  EXPECT_GT(RankRHat(trace, 4), 1.1);
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
  EXPECT_EQ(RankRHat(stuck, 2), INFINITY);
  std::vector<double> infinite(100, INFINITY);
  std::fill(infinite.begin(), infinite.begin() + 20, 1.0);
  for (const auto size : {BulkEffectiveSampleSize, TailEffectiveSampleSize, RankRHat}) {
    EXPECT_TRUE(std::isnan(size(constant, 4)));
    EXPECT_TRUE(std::isnan(size(two, 1)));
    EXPECT_TRUE(std::isnan(size(infinite, 2)));
  }
}

// Half of the chains keep 1 in the first variable and half 0: they draw from two distributions, need not
// agree, and what they keep says nothing of how they mix.
TEST(TraceRecorder, DoesNotCountWhatIsKept) {
  constexpr int64_t kChains = 8, kSteps = 200;
  const EnergyPath target(Opaque(LatticeEnergy(3, 3, 0.1, 0.0)));
  std::vector<float> starts(kChains * 9);
  for (int64_t chain = 0; chain < kChains; chain += 2) starts[chain * 9] = 1;
  Chains chains = StartChainsAt(target, starts, 3);
  chains.clamped = {1, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto sampler = MakeSampler("gibbs", target);
  TraceRecorder recorder;
  for (int64_t t = 0; t < kSteps; ++t) {
    sampler->Step(chains, 1);
    recorder.Record(chains);
  }
  const Diagnostics result = recorder.Summarise(chains.counters, 1);
  EXPECT_TRUE(std::isnan(result.coordinate_r_hat));
  EXPECT_TRUE(std::isnan(result.energy_r_hat));
  EXPECT_GT(result.coordinate_ess, kChains * kSteps / 4);
  EXPECT_GT(result.energy_ess, kChains * kSteps / 4);
  EXPECT_LT(result.coordinate_ess, 4 * kChains * kSteps);
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
  spent.moves -= before.moves;
  const Diagnostics result = recorder.Summarise(spent, 2.0);
  EXPECT_EQ(result.chains, kChains);
  EXPECT_EQ(result.draws, kSteps / 4);
  EXPECT_DOUBLE_EQ(result.energy_ess, BulkEffectiveSampleSize(energies, kChains));
  EXPECT_DOUBLE_EQ(result.energy_tail_ess, TailEffectiveSampleSize(energies, kChains));
  EXPECT_NEAR(result.energy_r_hat, 1, 0.02);
  EXPECT_NEAR(result.coordinate_r_hat, 1, 0.05);
  // Every fourth draw of chains that forget within a sweep or two is independent.
  EXPECT_LE(result.coordinate_ess, kChains * kSteps / 4 * 1.5);
  EXPECT_GT(result.coordinate_ess, kChains * kSteps / 4 * 0.5);
  EXPECT_EQ(result.energy_evaluations, kChains * kSteps * 9);
  EXPECT_DOUBLE_EQ(result.ess_per_second, result.energy_ess / 2);
  // In a sweep a bit flips at most once, so flips are distances.
  EXPECT_NEAR(result.jump_distance, 9 * result.move_rate, 0.02);
  EXPECT_EQ(result.acceptance_rate, 1);
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
