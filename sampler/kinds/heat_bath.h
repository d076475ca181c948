#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ort_ed {

// A bit that is 1 with probability sigmoid(log_odds), decided by a random word. The less likely value is
// taken when u < 1 / (1 + exp(|log_odds|)): precise for small probabilities of either value. The kernels of
// sweep_kernel.inc decide in the same way.
inline bool HeatBath(double log_odds, uint32_t word) {
  const double u = (static_cast<double>(word >> 1) + 0.5) * 0x1.0p-31;
  const bool unlikely = u * (1 + std::exp(std::min(std::abs(log_odds), 80.0))) < 1;
  return unlikely != (log_odds > 0);
}

}  // namespace ort_ed
