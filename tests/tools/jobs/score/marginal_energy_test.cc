#include "tools/jobs/score/marginal_energy.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/data/row_reader.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

constexpr uint8_t kHole = kMissingValue;

EnergyModel Mlp(int64_t dimension) {
  const std::string bytes = MlpModel(dimension, {8, 8});
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)));
}

// Minus the logarithm of the sum over all ways to fill the holes.
double SumOverHoles(const EnergyModel& model, std::vector<uint8_t> row) {
  std::vector<uint8_t> states;
  const std::function<void(size_t)> fill = [&](size_t i) {
    if (i == row.size()) {
      states.insert(states.end(), row.begin(), row.end());
      return;
    }
    const uint8_t given = row[i];
    for (const uint8_t bit : {uint8_t{0}, uint8_t{1}}) {
      if (given != kHole && given != bit) continue;
      row[i] = bit;
      fill(i + 1);
    }
    row[i] = given;
  };
  fill(0);
  std::vector<float> energies(states.size() / row.size());
  model.Energy(states, energies);
  double sum = 0;
  for (const float energy : energies) sum += std::exp(-static_cast<double>(energy));
  return -std::log(sum);
}

TEST(MarginalEnergy, SumsOverWhatIsMissingAndLeavesOtherRows) {
  const EnergyModel model = Mlp(6);
  MarginalEnergy marginal(model, 0, 1);
  const std::vector<std::vector<uint8_t>> rows = {
      {0, 1, 1, 0, 0, 1}, {kHole, 1, kHole, 0, 0, 1}, {kHole, kHole, kHole, kHole, kHole, kHole}};
  std::vector<uint8_t> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  std::vector<float> energies(rows.size()), errors(rows.size(), 1);
  std::vector<int64_t> looks;
  marginal.Energy(flat, energies, errors, [&](int64_t done) { looks.push_back(done); });
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(energies[i], SumOverHoles(model, rows[i]), 1e-5) << i;
  EXPECT_EQ(looks, std::vector<int64_t>({1, 2}));
  EXPECT_EQ(errors, std::vector<float>(rows.size(), 0));
  EXPECT_EQ(marginal.found().rows, 2);
  EXPECT_EQ(marginal.found().estimated, 0);
}

TEST(MarginalEnergy, ManyStatesAreEstimatedWithAnError) {
  const EnergyModel model = Mlp(18);
  MarginalEnergy marginal(model, 0, 1);
  std::vector<uint8_t> row(18, kHole);
  row[3] = 1;
  std::vector<float> energies(1), errors(1), others(1);
  marginal.Energy(row, energies, errors, [](int64_t) {});
  MarginalEnergy(model, 1, 1).Energy(row, others, errors, [](int64_t) {});
  EXPECT_NE(energies, others);  // by another seed
  EXPECT_GT(errors[0], 0);
  EXPECT_EQ(marginal.found().estimated, 1);
  EXPECT_GT(marginal.found().largest_error, 0);
  EXPECT_LT(marginal.found().largest_error, 0.2);
  EXPECT_NEAR(energies[0], SumOverHoles(model, row), 4 * marginal.found().largest_error);
}

}  // namespace
}  // namespace ort_ed
