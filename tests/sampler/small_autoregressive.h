#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/random.h"
#include "tests/sampler/law_test.h"

namespace ort_ed {

// Four variables over seven bits, of 2, 3, 2 and 2 states; the last has a bit for each.
inline Variables SmallMixedVariables() {
  return Variables({{.name = "a"},
                    {.name = "b", .kind = VariableKind::kNominal, .labels = {"x", "y", "z"}},
                    {.name = "c"},
                    {.name = "d", .kind = VariableKind::kOrdered, .labels = {"low", "high"}}});
}

// Binary variables may be told by their number.
inline Variables AsVariables(int64_t dimension) { return Variables::Binary(dimension); }
inline Variables AsVariables(const Variables& variables) { return variables; }

// Random weights where the order allows them. The order is backwards, so that nothing rests on it, or turned
// by some places.
template <typename Over>
AutoregressiveTensors RandomTensors(const Over& over, const std::vector<int64_t>& hidden, uint64_t seed,
                                    float scale = 1, int64_t turned = 0) {
  RandomStream random(seed, 0x54455354, 0, 0);
  AutoregressiveTensors tensors;
  tensors.variables = AsVariables(over);
  const int64_t count = tensors.variables.size();
  std::vector<int64_t> positions(tensors.variables.dimension());  // of bits
  for (int64_t k = 0; k < count; ++k) {
    const int64_t variable = (2 * count - 1 - k - turned) % count;
    tensors.order.push_back(variable);
    std::fill_n(positions.begin() + tensors.variables.first_bit(variable), tensors.variables.bits(variable),
                k);
  }
  // Connects what lies at least `gap` before.
  const auto weights = [&](const std::vector<int64_t>& from, const std::vector<int64_t>& to, int64_t gap) {
    std::vector<float> values;
    for (const int64_t f : from)
      for (const int64_t t : to)
        values.push_back(f + gap <= t ? scale * static_cast<float>(random.Normal()) : 0);
    return values;
  };
  const auto biases = [&](int64_t size) {
    std::vector<float> values;
    for (int64_t i = 0; i < size; ++i) values.push_back(scale * static_cast<float>(random.Normal()) * 0.5f);
    return values;
  };
  std::vector<int64_t> seen = positions;
  for (const int64_t units : hidden) {
    std::vector<int64_t> degrees;
    for (int64_t u = 0; u < units; ++u) degrees.push_back(UnitDegree(u, units, count));
    tensors.hidden.push_back({weights(seen, degrees, 0), biases(units)});
    seen = degrees;
  }
  if (!hidden.empty()) tensors.output = weights(seen, positions, 1);
  tensors.output_bias = biases(std::ssize(positions));
  tensors.direct = weights(positions, positions, 1);
  return tensors;
}

template <typename Over>
std::shared_ptr<const AutoregressiveBase> SmallAutoregressive(const Over& over,
                                                              const std::vector<int64_t>& hidden,
                                                              uint64_t seed, float scale = 1,
                                                              int threads = 0) {
  return std::make_shared<AutoregressiveBase>(RandomTensors(over, hidden, seed, scale), threads);
}

// p0 of all rows of bits: none where a variable has not exactly one.
inline Law LawOf(const AutoregressiveBase& base) {
  Law law(size_t{1} << base.dimension());
  const std::vector<float> rows = AllStates(base.dimension());
  base.Energy(rows, law);
  for (size_t s = 0; s < law.size(); ++s) {
    const auto row = std::span(rows).subspan(s * base.dimension(), base.dimension());
    law[s] = base.variables().FindBroken(row) ? 0 : std::exp(-law[s]);
  }
  return law;
}

// The rows of bits that can be.
inline std::vector<float> LegalStates(const Variables& variables) {
  const std::vector<float> rows = AllStates(variables.dimension());
  std::vector<float> legal;
  for (auto row = rows.begin(); row != rows.end(); row += variables.dimension())
    if (!variables.FindBroken(std::span<const float>(row, row + variables.dimension())))
      legal.insert(legal.end(), row, row + variables.dimension());
  return legal;
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
  std::vector<double> energies(count);
  std::vector<float> gradients(rows.size());
  base.EnergyAndGradient(rows, energies, gradients);
  constexpr float kStep = 1.0f / 64;
  for (int64_t i = 0; i < dimension; ++i) {
    const auto shifted = [&](float by) {
      std::vector<float> moved = rows;
      for (int64_t r = 0; r < count; ++r) moved[r * dimension + i] += by;
      std::vector<double> result(count);
      base.Energy(moved, result);
      return result;
    };
    const auto above = shifted(kStep), below = shifted(-kStep), higher = shifted(2 * kStep),
               lower = shifted(-2 * kStep);
    for (int64_t r = 0; r < count; ++r) {
      const double slope = (8 * (above[r] - below[r]) - (higher[r] - lower[r])) / (12 * kStep);
      EXPECT_NEAR(gradients[r * dimension + i], slope, 2e-3) << r << " " << i;
    }
  }
}

// Networks with orders and weights of their own.
template <typename Over>
std::vector<AutoregressiveTensors> MixtureTensors(const Over& over, int64_t networks,
                                                  const std::vector<int64_t>& hidden, uint64_t seed,
                                                  float scale = 1) {
  std::vector<AutoregressiveTensors> tensors;
  for (int64_t k = 0; k < networks; ++k)
    tensors.push_back(RandomTensors(over, hidden, seed + 100 * k, scale, 3 * k % AsVariables(over).size()));
  return tensors;
}

}  // namespace ort_ed
