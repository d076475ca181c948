#include "sampler/bipartite/bipartite_gibbs.h"

#include <cmath>
#include <numbers>

#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/bipartite/bipartite_units.h"
#include "sampler/bipartite/chain_block.h"
#include "sampler/bipartite/unit_kernels.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/heat_bath.h"
#include "sampler/quadratic/quadratic_gibbs.h"

namespace ort_ed {
namespace {

constexpr double kNanosecondsPerUnit = 0.5;  // of one update of one chain
constexpr double kRange = 80;                // exp() of it is a float

// What a sweep reads: the matrix, its exponentials, and how many of these a float can hold the product of.
struct SweepTables {
  explicit SweepTables(const BipartiteForm& form) : units(form) {
    factors.reserve(form.weights.size());
    inverses.reserve(form.weights.size());
    for (const float weight : form.weights) {
      factors.push_back(std::exp(weight));
      inverses.push_back(std::exp(-weight));
    }
    for (int64_t i = 0; i < form.dimension(); ++i) {
      float largest = 1;
      for (int64_t j = 0; j < form.units(); ++j)
        largest = std::max(largest, std::abs(units.weights_of(i)[j]));
      at_once.push_back(std::max<int64_t>(1, static_cast<int64_t>(kRange / largest)));
    }
  }

  BipartiteUnits units;
  std::vector<float> factors, inverses;  // exp(w) and exp(-w), D x H
  std::vector<int64_t> at_once;          // of each variable
};

// One block of chains through its steps.
class BlockSweep {
 public:
  BlockSweep(const SweepTables& tables, const EnergyPath& target, const Chains& chains, int64_t block)
      : tables_(tables),
        form_(tables.units.form()),
        base_(*target.base->independent()),
        chains_(chains),
        block_(chains, block),
        units_(static_cast<size_t>(form_.units())) {}

  void RunStep(uint64_t step, std::span<const int32_t> sites, int64_t updates, bool backwards) {
    Begin(step);
    for (int64_t k = 0; k < updates; ++k) {
      const uint64_t position = step * updates + (backwards ? updates - 1 - k : k);
      Update(sites[position % sites.size()]);
    }
  }

  int64_t flips() const { return flips_; }
  void Store(Chains& chains) const { block_.Store(chains); }

 private:
  // Inputs are summed up anew in every step: rounding does not add up, and steps do not depend on how they
  // are divided into calls.
  void Begin(uint64_t step) {
    for (int64_t j = 0; j < form_.units(); ++j) units_[j].input = tables_.units.Input(j, block_.x().data());
    kernels_.probabilities(units_.data(), form_.units());
    random_.clear();
    for (int64_t lane = 0; lane < block_.lanes(); ++lane)
      random_.emplace_back(chains_.seed, kGibbsPurpose, step, chains_.first_chain + block_.chain(lane));
  }

  void Update(int64_t site) {
    Lanes& x = block_.x()[site];
    LaneProduct ratio;
    const int64_t row = site * form_.units();
    kernels_.ratio(&tables_.factors[row], &tables_.inverses[row], x, units_.data(), form_.units(),
                   tables_.at_once[site], ratio);
    Lanes change = {};
    bool changed = false;
    for (int64_t lane = 0; lane < block_.lanes(); ++lane) {
      const double beta = chains_.betas[block_.chain(lane)];
      const double gain = std::log(ratio.mantissa.lane[lane]) + std::numbers::ln2 * ratio.exponent[lane];
      const double units = x.lane[lane] > 0 ? -gain : gain;  // of the change from 0 to 1
      const double log_odds = beta * (units - form_.fields[site]) - (1 - beta) * base_.fields()[site];
      const float bit = HeatBath(log_odds, random_[lane].Next32()) ? 1.0f : 0.0f;
      change.lane[lane] = bit - x.lane[lane];
      x.lane[lane] = bit;
      if (change.lane[lane] == 0) continue;
      changed = true;
      ++flips_;
    }
    if (changed) kernels_.shift(tables_.units.weights_of(site), change, units_.data(), form_.units());
  }

  const SweepTables& tables_;
  const BipartiteForm& form_;
  const ProductBase& base_;
  const Chains& chains_;
  const UnitKernels& kernels_ = BestUnitKernels();
  ChainBlock block_;
  std::vector<Unit> units_;
  std::vector<RandomStream> random_;  // of each lane
  int64_t flips_ = 0;
};

}  // namespace

bool HasBipartiteGibbs(const EnergyPath& target, const Chains& chains) {
  return target.bipartite() != nullptr && FreeSites(chains).shared();
}

void SystematicBipartiteGibbs(const EnergyPath& target, const BipartiteGibbsOptions& options, Chains& chains,
                              int64_t steps, bool backwards) {
  const FreeSites free(chains);
  const std::span<const int32_t> sites = free.of(0);
  const uint64_t first_step = chains.step;
  chains.step += static_cast<uint64_t>(steps);
  if (sites.empty() || steps == 0) return;
  const int64_t updates = options.updates > 0 ? options.updates : std::ssize(sites);
  const SweepTables tables(*target.bipartite());
  const auto moves = static_cast<double>(chains.count * steps * updates);
  const double work = moves * kNanosecondsPerUnit * static_cast<double>(target.bipartite()->units());
  std::vector<int64_t> flips(static_cast<size_t>(CountChainBlocks(chains)));
  ParallelFor(options.threads, CountChainBlocks(chains), work, [&](int64_t block) {
    BlockSweep sweep(tables, target, chains, block);
    for (uint64_t step = first_step; step < chains.step; ++step)
      sweep.RunStep(step, sites, updates, backwards);
    sweep.Store(chains);
    flips[block] = sweep.flips();
  });
  target.energy->Energy(chains.states, chains.energies);
  target.base->Energy(chains.states, chains.base_energies);
  chains.counters.energy_evaluations += chains.count * steps * updates;
  chains.counters.proposals += chains.count * steps * updates;
  chains.counters.acceptances += chains.count * steps * updates;
  for (const int64_t own : flips) {
    chains.counters.moves += own;
    chains.counters.bits_flipped += own;
  }
}

}  // namespace ort_ed
