#include <algorithm>
#include <cmath>

#include "ort_ed/error.h"
#include "tools/jobs/sample/proposal.h"

namespace ort_ed {
namespace {

constexpr uint32_t kRebuildPurpose = 0x504C5253;  // "PLRS": proposals, and whether they are accepted

class PolicySampler final : public Sampler {
 public:
  PolicySampler(std::shared_ptr<const Proposal> proposal, const EnergyPath& target)
      : proposal_(std::move(proposal)), target_(target) {}

  void Step(Chains& chains, int64_t steps) override {
    if (std::ranges::count(chains.clamped, 0) != std::ssize(chains.clamped))
      throw Error(ErrorCode::kInvalidArgument,
                  "a policy proposes whole rows and can keep no variable; use a sampler, such as gibbs");
    chains.gradients.clear();
    chains.base_gradients.clear();
    for (int64_t step = 0; step < steps; ++step, ++chains.step) RunStep(chains);
  }

 private:
  void RunStep(Chains& chains) {
    std::vector<RandomStream> random;
    for (int64_t chain = 0; chain < chains.count; ++chain)
      random.emplace_back(chains.seed, kRebuildPurpose, chains.step, chains.first_chain + chain);
    const std::vector<uint8_t> rows(chains.states.begin(), chains.states.end());
    const Proposal::Moves proposed = proposal_->Move(rows, random);
    const std::vector<float> states(proposed.rows.begin(), proposed.rows.end());
    const Chains there = StartChainsAt(target_, states, chains.seed);
    chains.counters.energy_evaluations += chains.count;
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      const double gain =
          Energy(chains, chain, chains.betas[chain]) - Energy(there, chain, chains.betas[chain]);
      ++chains.counters.proposals;
      if (std::log(random[chain].UniformDouble()) < gain + proposed.log_ratios[chain])
        Move(chains, there, chain);
    }
  }

  static double Energy(const Chains& chains, int64_t chain, double beta) {
    return beta * chains.energies[chain] + (1 - beta) * chains.base_energies[chain];
  }

  static void Move(Chains& chains, const Chains& there, int64_t chain) {
    int64_t distance = 0;
    for (int64_t i = 0; i < chains.dimension; ++i)
      distance += chains.state(chain)[i] != there.state(chain)[i] ? 1 : 0;
    ++chains.counters.acceptances;
    chains.counters.moves += distance > 0 ? 1 : 0;
    chains.counters.bits_flipped += distance;
    std::ranges::copy(there.state(chain), chains.state(chain).begin());
    chains.energies[chain] = there.energies[chain];
    chains.base_energies[chain] = there.base_energies[chain];
  }

  std::shared_ptr<const Proposal> proposal_;
  EnergyPath target_;
};

}  // namespace

std::unique_ptr<Sampler> MakePolicySampler(std::shared_ptr<const Proposal> proposal,
                                           const EnergyPath& target) {
  return std::make_unique<PolicySampler>(std::move(proposal), target);
}

}  // namespace ort_ed
