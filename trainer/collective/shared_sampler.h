#pragma once

#include <memory>

#include "ort_ed/sampler.h"
#include "runtime/support/collective.h"

namespace ort_ed {

// The sampler where several processes share the chains: each has all of them, moves its own and hears of the
// others'. Chains are cut where the sampler evaluates them in groups, so that each moves as it does in one
// process, to the last bit. What the sampler keeps of a chain beside its state and energies (gradients) only
// the process has that moves it.
std::unique_ptr<Sampler> ShareChains(std::unique_ptr<Sampler> sampler, const EnergyPath& target,
                                     Collective& processes);

}  // namespace ort_ed
