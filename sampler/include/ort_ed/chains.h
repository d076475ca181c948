#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/energy_function.h"
#include "ort_ed/export.h"

namespace ort_ed {

// What the steps of a run cost and did, summed over chains.
struct StepCounters {
  // Rows given to Energy or EnergyAndGradient; Gibbs sampling of a quadratic energy counts one per site
  // update.
  int64_t energy_evaluations = 0;
  int64_t gradient_evaluations = 0;  // rows given to EnergyAndGradient
  int64_t proposals = 0;
  // Proposals that were accepted, those of the state itself included: all of a sampler that rejects none.
  int64_t acceptances = 0;
  int64_t moves = 0;           // proposals after which the state was another one
  int64_t bits_flipped = 0;    // variables that changed, over all proposals
  int64_t swap_proposals = 0;  // tempering: exchanges of neighbouring temperatures
  int64_t swap_acceptances = 0;

  ORT_ED_API StepCounters& operator+=(const StepCounters& other);
};

// Everything that a run of many chains is: plain data, so that it can be copied, stored and resumed. Samplers
// read and write it; between steps a caller may change `betas`, and with them the distribution: the caches
// hold U and U0 themselves and stay valid.
struct Chains {
  int64_t count = 0;
  int64_t dimension = 0;
  std::vector<float> states;               // count x dimension, 0 or 1
  std::vector<double> energies;            // U of each state
  std::vector<double> base_energies;       // U0 of each state
  std::vector<float> gradients;            // dU/dx of each state, count x dimension; empty: not known
  std::vector<float> base_gradients = {};  // dU0/dx of each state where the base is not independent
  std::vector<double> betas;               // inverse temperature of each chain
  // Tempering: states of each chain's hotter replicas, count x (temperatures - 1) x dimension; empty: they
  // start where their chain is.
  std::vector<float> replicas = {};
  // 1: never changes; all bits of a variable, or none. Empty, or `dimension` values for all chains, or count
  // x dimension.
  std::vector<uint8_t> clamped;
  uint64_t seed = 0;
  uint64_t step = 0;  // steps done; with seed and chain number it determines every random number
  // Number of chain 0: micro-batches of one large run draw the random numbers they would draw in it.
  uint64_t first_chain = 0;
  StepCounters counters;

  std::span<float> state(int64_t chain) {
    return {states.data() + chain * dimension, static_cast<size_t>(dimension)};
  }
  std::span<const float> state(int64_t chain) const {
    return {states.data() + chain * dimension, static_cast<size_t>(dimension)};
  }
  bool IsClamped(int64_t chain, int64_t site) const {
    if (clamped.empty()) return false;
    return clamped[static_cast<int64_t>(clamped.size()) == dimension ? site : chain * dimension + site] != 0;
  }
};

// Chains at beta = 1 that start from independent draws of the target's base distribution.
ORT_ED_API Chains StartChains(const EnergyPath& target, int64_t count, uint64_t seed,
                              uint64_t first_chain = 0);
// Chains at beta = 1 that start from given rows of 0 and 1; other values throw kBadData, and so do variables
// with no or several ones among their bits.
ORT_ED_API Chains StartChainsAt(const EnergyPath& target, std::vector<float> states, uint64_t seed,
                                uint64_t first_chain = 0);

// Chains first, ..., first + count - 1 as a run of their own, which draws the random numbers that they would
// draw in the whole; and what became of them back into it, what they counted added.
ORT_ED_API Chains TakeChains(const Chains& whole, int64_t first, int64_t count);
ORT_ED_API void PutBackChains(Chains& whole, int64_t first, const Chains& part);

}  // namespace ort_ed
