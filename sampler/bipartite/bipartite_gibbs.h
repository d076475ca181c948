#pragma once

#include "ort_ed/chains.h"

namespace ort_ed {

struct BipartiteGibbsOptions {
  int64_t updates;  // per step; 0: every free coordinate once
  int threads;
};

// Whether SystematicBipartiteGibbs() can move these chains: the path shows an RBM, and clamps are common to
// all of them.
bool HasBipartiteGibbs(const EnergyPath& target, const Chains& chains);

// Gibbs sampling of an RBM, O(hidden units) per update. The same decisions as for any other energy
// (gibbs.cc), up to rounding. The energies of the chains are evaluated once, at the end.
void SystematicBipartiteGibbs(const EnergyPath& target, const BipartiteGibbsOptions& options, Chains& chains,
                              int64_t steps, bool backwards);

}  // namespace ort_ed
