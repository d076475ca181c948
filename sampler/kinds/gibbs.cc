#include <optional>

#include "ort_ed/random.h"
#include "sampler/bipartite/bipartite_gibbs.h"
#include "sampler/kinds/block_gibbs.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/heat_bath.h"
#include "sampler/kinds/sampler_kinds.h"
#include "sampler/kinds/scan_options.h"
#include "sampler/quadratic/quadratic_gibbs.h"

namespace ort_ed {
namespace {

// Redraws one variable at a time from its conditional distribution. Where all are binary, for any energy but
// a quadratic one and an RBM, every update flips one bit of each chain in place, evaluates all of them as one
// batch, and takes back what is not kept.
class Gibbs final : public Sampler {
 public:
  using Options = ScanOptions;

  Gibbs(const EnergyPath& target, const Options& options, int threads)
      : target_(target), independent_(target.base->independent()), options_(options), threads_(threads) {
    if (!target.variables().all_binary())
      by_states_.emplace(target, BlockGibbs::Options{.scan = options, .block = 1}, threads, kGibbsPurpose);
  }

  void Step(Chains& chains, int64_t steps) override {
    by_states_ ? by_states_->Step(chains, steps) : Run(chains, steps, false);
  }
  void StepReversed(Chains& chains, int64_t steps) override {
    by_states_ ? by_states_->StepReversed(chains, steps) : Run(chains, steps, true);
  }

 private:
  void Run(Chains& chains, int64_t steps, bool backwards) {
    chains.gradients.clear();
    chains.base_gradients.clear();
    if (options_.scan == Scan::kSystematic && HasBipartiteGibbs(target_, chains)) {
      SystematicBipartiteGibbs(target_, {options_.updates, threads_}, chains, steps, backwards);
    } else if (target_.quadratic() == nullptr) {
      const FreeSites free(chains);
      for (int64_t step = 0; step < steps; ++step) RunStep(chains, free, backwards);
    } else if (options_.scan == Scan::kRandom) {
      RandomScanQuadraticGibbs(target_, {options_.updates, threads_}, chains, steps);
    } else {
      SystematicQuadraticGibbs(target_, {options_.updates, threads_}, chains, steps, backwards);
    }
  }

  void RunStep(Chains& chains, const FreeSites& free, bool backwards) {
    const int64_t updates = options_.updates > 0 ? options_.updates : free.most();
    random_.clear();
    for (int64_t chain = 0; chain < chains.count; ++chain)
      random_.emplace_back(chains.seed, kGibbsPurpose, chains.step, chains.first_chain + chain);
    for (int64_t update = 0; update < updates; ++update)
      Update(chains, free, chains.step * updates + (backwards ? updates - 1 - update : update));
    ++chains.step;
  }

  void Update(Chains& chains, const FreeSites& free, uint64_t position) {
    sites_.assign(chains.count, -1);
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      const std::span<const int32_t> sites = free.of(chain);
      if (sites.empty()) continue;
      const uint64_t which = options_.scan == Scan::kRandom
                                 ? random_[chain].Below(static_cast<uint32_t>(sites.size()))
                                 : position % sites.size();
      sites_[chain] = sites[which];
      Flip(chains, chain);
    }
    flipped_energies_.resize(chains.count);
    target_.energy->Energy(chains.states, flipped_energies_);
    chains.counters.energy_evaluations += chains.count;
    if (independent_ == nullptr) {
      flipped_base_energies_.resize(chains.count);
      target_.base->Energy(chains.states, flipped_base_energies_);
    }
    for (int64_t chain = 0; chain < chains.count; ++chain)
      if (sites_[chain] >= 0) Decide(chains, chain);
  }

  void Decide(Chains& chains, int64_t chain) {
    const int32_t site = sites_[chain];
    const float flipped = chains.state(chain)[site];
    const double sign = 2 * flipped - 1;  // of the change of x_site
    const double base_change = independent_ != nullptr
                                   ? sign * independent_->fields()[site]
                                   : flipped_base_energies_[chain] - chains.base_energies[chain];
    const double beta = chains.betas[chain];
    const double change =
        (1 - beta) * base_change + beta * (flipped_energies_[chain] - chains.energies[chain]);
    ++chains.counters.proposals;
    ++chains.counters.acceptances;  // a draw from the conditional distribution is never rejected
    if (HeatBath(-sign * change, random_[chain].Next32()) != (flipped == 1)) {
      Flip(chains, chain);
      return;
    }
    chains.energies[chain] = flipped_energies_[chain];
    chains.base_energies[chain] += base_change;
    ++chains.counters.moves;
    ++chains.counters.bits_flipped;
  }

  void Flip(Chains& chains, int64_t chain) const {
    float& bit = chains.state(chain)[sites_[chain]];
    bit = 1 - bit;
  }

  EnergyPath target_;
  const ProductBase* independent_;  // null: the base is something else
  Options options_;
  int threads_;
  std::vector<RandomStream> random_;      // of each chain
  std::vector<int32_t> sites_;            // flipped in each chain; -1: none
  std::vector<double> flipped_energies_;  // with that flip
  std::vector<double> flipped_base_energies_;
  std::optional<BlockGibbs> by_states_;  // where some variables have more than two states
};

}  // namespace

extern const SamplerKind kGibbsSampler =
    MakeSamplerKind<Gibbs>("gibbs", "one variable at a time from its conditional distribution");

}  // namespace ort_ed
