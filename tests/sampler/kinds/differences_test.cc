// Gradients that are made of energy differences.

#include <gtest/gtest.h>

#include "sampler/kinds/energy_differences.h"
#include "tests/sampler/test_energies.h"

namespace ort_ed {
namespace {

double EnergyOf(const EnergyFunction& energy, const std::vector<float>& row) {
  double value = 0;
  energy.Energy(row, {&value, 1});
  return value;
}

// First-order gains, as samplers compute them from slopes, are the energies' differences for every move.
void ExpectExactGains(const std::shared_ptr<const EnergyFunction>& energy) {
  const auto by_differences = WithDifferences(energy);
  const Variables variables = energy->variables();
  const int64_t dimension = energy->dimension();
  constexpr int64_t count = 20;
  const std::vector<float> rows = ProductBase::Uniform(variables).DrawRows(1, 0, count);
  std::vector<double> energies(count);
  std::vector<float> slopes(rows.size());
  by_differences->EnergyAndGradient(rows, energies, slopes);
  for (int64_t r = 0; r < count; ++r) {
    const std::vector<float> row(rows.begin() + r * dimension, rows.begin() + (r + 1) * dimension);
    EXPECT_EQ(energies[r], EnergyOf(*energy, row));
    for (int64_t bit = 0; bit < dimension; ++bit) {
      std::vector<float> moved = row;
      variables.Move(moved.data(), bit);
      double change = 0;
      for (int64_t i = 0; i < dimension; ++i) change += (moved[i] - row[i]) * slopes[r * dimension + i];
      EXPECT_NEAR(change, EnergyOf(*energy, moved) - energies[r], 1e-5) << "row " << r << " bit " << bit;
    }
  }
}

TEST(EnergyDifferences, AreExactForBinaryAndOtherVariables) {
  ExpectExactGains(MlpEnergy(7, 9, 3));
  ExpectExactGains(MixedMlpEnergy(4));
  ExpectExactGains(MixedDenseEnergy(4));
}

TEST(EnergyDifferences, AQuadraticEnergyHasThemAlready) {
  const auto energy = DenseEnergy(5, 0.3, 7);
  EXPECT_EQ(WithDifferences(energy), energy);
}

TEST(EnergyDifferences, CountAsEvaluationsOfAllNeighbours) {
  const auto energy = MlpEnergy(7, 9, 3);
  const EnergyPath target(energy);
  Chains chains = StartChains(target, 5, 1);
  chains.counters = {};
  energy->rows_evaluated = 0;
  MakeSampler({"gwg", {{"gradient", "differences"}}}, target, 1)->Step(chains, 3);
  EXPECT_EQ(chains.counters.energy_evaluations, 4 * 5 * 8);  // of the first states and of three proposals
  EXPECT_EQ(energy->rows_evaluated, chains.counters.energy_evaluations);
  EXPECT_EQ(chains.counters.gradient_evaluations, 0);
}

}  // namespace
}  // namespace ort_ed
