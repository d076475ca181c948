#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/energy_function.h"
#include "ort_ed/export.h"
#include "ort_ed/options.h"

namespace ort_ed {

// What the steps of a run cost and did, summed over chains.
struct StepCounters {
  // Rows given to Energy or EnergyAndGradient; Gibbs sampling of a quadratic energy counts one per site
  // update.
  int64_t energy_evaluations = 0;
  int64_t gradient_evaluations = 0;  // rows given to EnergyAndGradient
  int64_t proposals = 0;
  int64_t acceptances = 0;     // proposals after which the state was another one (Gibbs: flips)
  int64_t bits_flipped = 0;    // Hamming distance between the states before and after each proposal
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
  // 1: never changes. Empty, or `dimension` values for all chains, or count x dimension.
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
// Chains at beta = 1 that start from given rows of 0 and 1; other values throw kBadData.
ORT_ED_API Chains StartChainsAt(const EnergyPath& target, std::vector<float> states, uint64_t seed,
                                uint64_t first_chain = 0);

enum class Scan { kSystematic, kRandom };

inline constexpr int kMaxBlock = 12;  // coordinates that block-gibbs updates together

// A Markov kernel on the target's path. The same seed gives the same samples whatever the number of threads
// and however the steps are divided into calls. An object keeps only scratch memory and is used by one thread
// at a time. Where the energy function throws, the chains are not valid any more.
class ORT_ED_API Sampler {
 public:
  virtual ~Sampler() = default;

  // Advances every chain by `steps` steps. Caches, counters and chains.step are up to date afterwards.
  virtual void Step(Chains& chains, int64_t steps) = 0;

  // The time reversal of Step: the kernel K~ with p(x) K(x, y) = p(y) K~(y, x). The same as Step for a
  // reversible kernel; a systematic scan runs backwards. Throws kInvalidArgument for tempering.
  virtual void StepReversed(Chains& chains, int64_t steps) { Step(chains, steps); }
};

// One row of the table of samplers. Each has options of its own, in its schema:
//   gibbs        scan, updates
//   block-gibbs  scan, updates, block
//   gwg          flips
//   dula, dmala  step_size
//   pas          path_length
//   refill       none; only where the path's base is autoregressive
//   tempering    inner and its options, temperatures, lowest_beta
struct SamplerKind {
  const char* name;
  const char* summary;
  bool needs_gradient;
  bool exact;                      // leaves the target invariant
  bool needs_autoregressive_base;  // of the target
  const Schema& (*schema)();
  // `options` are checked. `threads`: of the work outside the energy function; 0: all cores.
  std::unique_ptr<Sampler> (*make)(const EnergyPath& target, const OptionMap& options, int threads);
};

ORT_ED_API std::span<const SamplerKind* const> Samplers();
// Throws kInvalidArgument listing the candidates.
ORT_ED_API const SamplerKind& FindSampler(const std::string& name);

// What an option that chooses a sampler may hold: all of them, or those that annealing accepts.
ORT_ED_API KindTable SamplerTable();
ORT_ED_API KindTable AnnealingSamplerTable();

// MakeSampler({"gwg", {{"flips", 2}}}, target), or just its name. Throws OptionError for an unknown name or
// option and a value outside its domain, kInvalidArgument for a missing gradient.
ORT_ED_API std::unique_ptr<Sampler> MakeSampler(const Choice& sampler, const EnergyPath& target,
                                                int threads = 0);
// Whether this sampler, or the one inside it, needs the gradient. Throws as FindSampler().
ORT_ED_API bool NeedsGradient(const Choice& sampler);

// Former: the options of all samplers in one struct. Goes away with the next version; use a Choice.
struct SamplerOptions {
  Scan scan = Scan::kSystematic;
  int64_t updates_per_step = 0;
  int block = 4;
  int flips = 1;
  double step_size = 0.2;
  int path_length = 5;
  std::string inner = "gibbs";
  int temperatures = 8;
  double lowest_beta = 0.1;
  int threads = 0;
};
ORT_ED_API std::unique_ptr<Sampler> MakeSampler(const std::string& name, const EnergyPath& target,
                                                const SamplerOptions& options);
using SamplerEntry = SamplerKind;

}  // namespace ort_ed
