#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/chains.h"
#include "ort_ed/energy_function.h"
#include "ort_ed/export.h"
#include "ort_ed/options.h"

namespace ort_ed {

enum class Scan { kSystematic, kRandom };

// What tells a gradient-guided sampler good moves: the derivative of the energy, which sees nothing of what a
// model does with x in a Cast, a comparison or an index; or the energies of all states one move away. kAuto
// is the derivative, too; whoever knows the graph of a model looks at it before.
enum class GradientSource { kAuto, kDerivative, kDifferences };

inline constexpr int kMaxBlock = 12;  // variables that block-gibbs updates together, with 2^12 states

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
//   gwg          flips, gradient
//   dula, dmala  step_size, gradient
//   pas          path_length, gradient
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
// Of this sampler, or of the one inside it; nothing where moves are not guided. Throws as FindSampler().
ORT_ED_API std::optional<GradientSource> GradientOf(const Choice& sampler);
// Whether it needs the derivative of the energy.
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
