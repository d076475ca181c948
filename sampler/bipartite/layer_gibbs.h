#pragma once

#include "ort_ed/chains.h"

namespace ort_ed {

struct LayerGibbsOptions {
  int64_t updates;  // per step; 0: one
  int threads;
};

// An RBM's hidden units given the variables, then the variables given the units, all at once. On the path at
// beta = 1 this draws from conditionals. Elsewhere (1 + exp(input))^beta is no sum over the states of a unit:
// units with beta * input make a proposal, which leaves its own distribution invariant, and is accepted or
// not (Metropolis and Hastings). Reversible. The target's path must show an RBM (EnergyPath::bipartite()).
void LayerGibbs(const EnergyPath& target, const LayerGibbsOptions& options, Chains& chains, int64_t steps);

}  // namespace ort_ed
