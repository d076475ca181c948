#include "tools/jobs/sample/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sampler/test_energies.h"

namespace ort_ed {
namespace {

using testing::HasSubstr;

ChainAgreement Sample(const EnergyPath& target, Chains chains, int64_t records) {
  const auto sampler = MakeSampler("gibbs", target);
  TraceRecorder recorder;
  for (int64_t t = 0; t < records; ++t) {
    sampler->Step(chains, 1);
    recorder.Record(chains);
  }
  return JudgeChains(recorder.Summarise(chains.counters, 1), Variables::Binary(target.dimension()));
}

// Fields by which bits are 1 with probabilities of 0.02 down to 0.0005.
EnergyPath RareBits(size_t bits) {
  std::vector<double> fields;
  for (size_t i = 0; i < bits; ++i) {
    const double p = 0.02 * std::pow(0.025, static_cast<double>(i) / static_cast<double>(bits));
    fields.push_back(0.5 * std::log(p / (1 - p)));
  }
  return EnergyPath(SpinEnergy(fields, {}));
}

struct Run {
  int64_t chains, records;
};

class AgreementOf : public testing::TestWithParam<Run> {};

// Gibbs sampling draws independent bits anew in every sweep, so that chains agree from the first one on. A
// share of 0.01 of false alarms gives more than 3 in 60 seeds with probability 0.003.
TEST_P(AgreementOf, ManyRareBitsIsSeenInNearlyAllSeeds) {
  const auto [chains, records] = GetParam();
  const EnergyPath target = RareBits(200);
  int alarms = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed)
    alarms += Sample(target, StartChains(target, chains, seed), records).VariablesDisagree();
  EXPECT_LE(alarms, 3);
}

// Nine spins that all want to be equal, of which chains never get away.
TEST_P(AgreementOf, ChainsInTwoModesIsDenied) {
  const auto [chains, records] = GetParam();
  std::vector<Edge> edges;
  for (int a = 0; a < 9; ++a)
    for (int b = 0; b < a; ++b) edges.push_back({a, b, 0.4});
  const EnergyPath target(SpinEnergy(std::vector<double>(9), edges));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<float> starts(static_cast<size_t>(chains * 9));
    for (int64_t chain = 0; chain < chains; chain += 2) std::fill_n(starts.begin() + chain * 9, 9, 1.0f);
    EXPECT_TRUE(Sample(target, StartChainsAt(target, starts, seed), records).VariablesDisagree()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, AgreementOf,
                         testing::Values(Run{5, 25}, Run{32, 50}, Run{4, 100}, Run{32, 500}));

TEST(RHatLimit, IsThatOfManyRecordsInTheEndAndMoreForMoreVariables) {
  EXPECT_EQ(RHatLimit(512, 32, 200), 1.1);
  EXPECT_GT(RHatLimit(50, 32, 200), RHatLimit(50, 32, 2));
  EXPECT_GT(RHatLimit(50, 4, 20), RHatLimit(50, 32, 20));
  EXPECT_GT(RHatLimit(50, 32, 20), RHatLimit(100, 32, 20));
  EXPECT_EQ(RHatLimit(4, 1, 1000), INFINITY);  // nothing can be said
}

// By the quantiles of Fisher's distribution in tables: 2.54 at 0.01 of F(9, 120), 2.56 of F(9, 110).
TEST(RHatLimit, FollowsFishersDistribution) {
  EXPECT_NEAR(RHatLimit(24, 5, 1), std::sqrt(11.0 / 12 + 2.56), 0.01);
}

TEST(ChainAgreement, OfFewRecordsNothingIsSaidOfVariables) {
  Diagnostics diagnostics;
  diagnostics.coordinate_r_hat = 30;
  diagnostics.worst_variable = 0;
  diagnostics.draws = 19;
  diagnostics.chains = 5;
  EXPECT_FALSE(JudgeChains(diagnostics, Variables::Binary(3)).VariablesDisagree());
  diagnostics.draws = 20;
  EXPECT_TRUE(JudgeChains(diagnostics, Variables::Binary(3)).VariablesDisagree());
}

TEST(ChainAgreement, NamesTheWorstVariableWithItsFigures) {
  Diagnostics diagnostics;
  diagnostics.energy_r_hat = 1.004;
  diagnostics.coordinate_r_hat = 2.5;
  diagnostics.worst_variable = 1;
  diagnostics.draws = 500;
  diagnostics.chains = 32;
  const ChainAgreement agreement = JudgeChains(diagnostics, Variables::Binary(3));
  EXPECT_TRUE(agreement.VariablesDisagree());
  EXPECT_FALSE(agreement.EnergiesDisagree());
  EXPECT_EQ(agreement.Describe(), "R-hat of the energy 1.004 (limit 1.10), of '" +
                                      Variables::Binary(3).Name(1) +
                                      "', the worst variable, 2.500 (limit 1.10)");
  EXPECT_EQ(ChainAgreement().Describe(), "");
  EXPECT_FALSE(ChainAgreement().VariablesDisagree());
}

}  // namespace
}  // namespace ort_ed
