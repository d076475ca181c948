// Scoring and sampling on a device.
#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/energy_function.h"
#include "ort_ed/random.h"
#include "ort_ed/sampler.h"
#include "tests/devices/test_device.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

std::vector<float> RandomRows(int64_t rows, int64_t dimension) {
  RandomStream random(3, 1, 0, 0);
  std::vector<float> values(static_cast<size_t>(rows * dimension));
  for (float& bit : values) bit = random.Bernoulli(0.5f) ? 1.0f : 0.0f;
  return values;
}

class EnergyOnDevice : public OnDevice {
 protected:
  EnergyModel Load(const std::string& model, const Device& where) const {
    return EnergyModel::FromMemory(Bytes(model), {.device = where, .threads = 1});
  }

  void ExpectSameEnergies(const std::string& model, int64_t dimension) const {
    for (const int64_t count : {1, 130}) {
      const std::vector<float> rows = RandomRows(count, dimension);
      std::vector<float> energies(count), expected(count);
      Load(model, device()).Energy(rows, energies);
      Load(model, {}).Energy(rows, expected);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_NEAR(energies[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << i;
    }
  }
};

TEST_F(EnergyOnDevice, ScoresAsTheCpu) {
  ExpectSameEnergies(MlpModel(20, {32, 32}), 20);
  ExpectSameEnergies(ConvolutionModel(8, 4, 2), 64);
  ExpectSameEnergies(LinearModel(5), 5);
  ExpectSameEnergies(LookupModel(), 3);
}

TEST_F(EnergyOnDevice, HasTheGradientOfTheCpu) {
  const std::string model = WithLinearGradient(LinearModel(5), 5);
  const std::vector<float> rows = RandomRows(9, 5);
  std::vector<float> energies(9), gradients(45), expected(9), expected_gradients(45);
  Load(model, device()).EnergyAndGradient(rows, energies, gradients);
  Load(model, {}).EnergyAndGradient(rows, expected, expected_gradients);
  for (size_t i = 0; i < gradients.size(); ++i) EXPECT_NEAR(gradients[i], expected_gradients[i], 1e-5);
  for (size_t i = 0; i < energies.size(); ++i) EXPECT_NEAR(energies[i], expected[i], 1e-5);
}

// U of three bits, whose eight probabilities are known. 2,000 chains after 8 sweeps.
TEST_F(EnergyOnDevice, SamplesFollowTheModel) {
  const double table[] = {0, 2, 1, 0.5, 3, 1, 0, 2};
  double z = 0;
  for (const double energy : table) z += std::exp(-energy);
  const auto energy = MakeEnergyFunction(Load(LookupModel(), device()));
  const EnergyPath path(energy);
  constexpr int64_t kChains = 2000;
  Chains chains = StartChains(path, kChains, 11);
  MakeSampler("gibbs", path, 1)->Step(chains, 8);
  std::vector<double> counts(8);
  for (int64_t chain = 0; chain < kChains; ++chain) {
    const auto state = chains.state(chain);
    ++counts[static_cast<size_t>(state[0] + 2 * state[1] + 4 * state[2])];
  }
  double chi_square = 0;
  for (int x = 0; x < 8; ++x) {
    const double expected = kChains * std::exp(-table[x]) / z;
    chi_square += (counts[x] - expected) * (counts[x] - expected) / expected;
  }
  EXPECT_LT(chi_square, 24.3);  // 7 degrees of freedom, once in a thousand seeds
}

}  // namespace
}  // namespace ort_ed
