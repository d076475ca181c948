#pragma once

#include "ort_ed/sampler.h"

namespace ort_ed {

inline constexpr uint32_t kGibbsPurpose = 0x47494242;  // "GIBB"

// Gibbs sampling of a quadratic energy, O(degree) an update and no evaluation of the model. The same
// decisions as for any other energy (gibbs.cc), up to rounding, where clamps are common to all chains.
void SystematicQuadraticGibbs(const EnergyPath& target, const SamplerOptions& options, Chains& chains,
                              int64_t steps, bool backwards);
void RandomScanQuadraticGibbs(const EnergyPath& target, const SamplerOptions& options, Chains& chains,
                              int64_t steps);

}  // namespace ort_ed
