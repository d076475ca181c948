#pragma once

#include "ort_ed/chains.h"

namespace ort_ed {

inline constexpr uint32_t kGibbsPurpose = 0x47494242;  // "GIBB"

struct QuadraticGibbsOptions {
  int64_t updates;  // per step; 0: every free coordinate once
  int threads;
};

// Gibbs sampling of a quadratic energy, O(degree) per update and no evaluation of the model. The same
// decisions as for any other energy (gibbs.cc), up to rounding, where clamps are common to all chains.
void SystematicQuadraticGibbs(const EnergyPath& target, const QuadraticGibbsOptions& options, Chains& chains,
                              int64_t steps, bool backwards);
void RandomScanQuadraticGibbs(const EnergyPath& target, const QuadraticGibbsOptions& options, Chains& chains,
                              int64_t steps);

}  // namespace ort_ed
