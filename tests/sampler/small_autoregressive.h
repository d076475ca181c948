#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/random.h"
#include "tests/sampler/law_test.h"

namespace ort_ed {

// Random weights where the order allows them. The order is backwards, so that nothing rests on it, or turned
// by some places.
inline AutoregressiveTensors RandomTensors(int64_t dimension, const std::vector<int64_t>& hidden,
                                           uint64_t seed, float scale = 1, int64_t turned = 0) {
  RandomStream random(seed, 0x54455354, 0, 0);
  AutoregressiveTensors tensors;
  std::vector<int64_t> positions(dimension);
  for (int64_t k = 0; k < dimension; ++k) {
    tensors.order.push_back((2 * dimension - 1 - k - turned) % dimension);
    positions[tensors.order.back()] = k;
  }
  // Connects what lies at least `gap` before.
  const auto weights = [&](const std::vector<int64_t>& from, const std::vector<int64_t>& to, int64_t gap) {
    std::vector<float> values;
    for (const int64_t f : from)
      for (const int64_t t : to)
        values.push_back(f + gap <= t ? scale * static_cast<float>(random.Normal()) : 0);
    return values;
  };
  const auto biases = [&](int64_t count) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(scale * static_cast<float>(random.Normal()) * 0.5f);
    return values;
  };
  std::vector<int64_t> seen = positions;
  for (const int64_t units : hidden) {
    std::vector<int64_t> degrees;
    for (int64_t u = 0; u < units; ++u) degrees.push_back(UnitDegree(u, units, dimension));
    tensors.hidden.push_back({weights(seen, degrees, 0), biases(units)});
    seen = degrees;
  }
  if (!hidden.empty()) tensors.output = weights(seen, positions, 1);
  tensors.output_bias = biases(dimension);
  tensors.direct = weights(positions, positions, 1);
  return tensors;
}

inline std::shared_ptr<const AutoregressiveBase> SmallAutoregressive(int64_t dimension,
                                                                     const std::vector<int64_t>& hidden,
                                                                     uint64_t seed, float scale = 1,
                                                                     int threads = 0) {
  return std::make_shared<AutoregressiveBase>(RandomTensors(dimension, hidden, seed, scale), threads);
}

// p0 of all states.
inline Law LawOf(const BaseDistribution& base) {
  Law law(size_t{1} << base.dimension());
  base.Energy(AllStates(base.dimension()), law);
  for (double& p : law) p = std::exp(-p);
  return law;
}

inline std::map<uint32_t, double> CountRows(std::span<const float> rows, int64_t dimension) {
  std::map<uint32_t, double> counts;
  for (size_t row = 0; row < rows.size(); row += dimension)
    ++counts[StateNumber(rows.subspan(row, dimension))];
  return counts;
}

// dU0/dx against differences of U0.
inline void ExpectGradient(const BaseDistribution& base, const std::vector<float>& rows) {
  const int64_t dimension = base.dimension(), count = std::ssize(rows) / dimension;
  std::vector<double> energies(count), above(count), below(count);
  std::vector<float> gradients(rows.size());
  base.EnergyAndGradient(rows, energies, gradients);
  constexpr float kStep = 1.0f / 64;
  for (int64_t i = 0; i < dimension; ++i) {
    const auto shifted = [&](float by, std::vector<double>& result) {
      std::vector<float> moved = rows;
      for (int64_t r = 0; r < count; ++r) moved[r * dimension + i] += by;
      base.Energy(moved, result);
    };
    shifted(kStep, above);
    shifted(-kStep, below);
    for (int64_t r = 0; r < count; ++r)
      EXPECT_NEAR(gradients[r * dimension + i], (above[r] - below[r]) / (2 * kStep), 5e-3) << r << " " << i;
  }
}

// Networks with orders and weights of their own.
inline std::vector<AutoregressiveTensors> MixtureTensors(int64_t dimension, int64_t networks,
                                                         const std::vector<int64_t>& hidden, uint64_t seed,
                                                         float scale = 1) {
  std::vector<AutoregressiveTensors> tensors;
  for (int64_t k = 0; k < networks; ++k)
    tensors.push_back(RandomTensors(dimension, hidden, seed + 100 * k, scale, 3 * k % dimension));
  return tensors;
}

}  // namespace ort_ed
