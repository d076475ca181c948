#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/random.h"

namespace ort_ed {

// Random weights where the order allows them. The order is backwards, so that nothing rests on it.
inline AutoregressiveTensors RandomTensors(int64_t dimension, const std::vector<int64_t>& hidden,
                                           uint64_t seed, float scale = 1) {
  RandomStream random(seed, 0x54455354, 0, 0);
  AutoregressiveTensors tensors;
  std::vector<int64_t> positions(dimension);
  for (int64_t k = 0; k < dimension; ++k) {
    tensors.order.push_back(dimension - 1 - k);
    positions[dimension - 1 - k] = k;
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

}  // namespace ort_ed
