#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ort_ed/random.h"
#include "ort_ed/sampler.h"
#include "sampler/kinds/energy_differences.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/gradient_options.h"
#include "sampler/kinds/local_states.h"

namespace ort_ed {

// Clipping is part of the proposal, so it costs no exactness; exp(150) leaves room for sums and products.
inline constexpr double kLargestGain = 150;

// How a gradient-guided sampler proposes flips of one chain's free coordinates. gains[k] is half the change
// of log p, to first order, when free coordinate k flips; flipping it back has the gain -gains[k] to the same
// order.
class FlipProposal {
 public:
  virtual ~FlipProposal() = default;

  // Appends the coordinates to flip, in order; one that comes twice flips back. Returns the log probability
  // of this draw.
  virtual double Propose(std::span<const double> gains, RandomStream& random,
                         std::vector<int32_t>& flips) const = 0;

  // The log probability of undoing `flips`, where `gains` are those of the proposed state.
  virtual double LogReverse(std::span<const double> gains, std::span<const int32_t> flips) const = 0;
};

// The same proposal for binary variables and for others.
struct Proposal {
  std::unique_ptr<FlipProposal> flips;
  std::unique_ptr<ChangeProposal> changes;
};

// A draw from weights; `total` is their sum.
size_t DrawWeighted(std::span<const double> weights, double total, RandomStream& random);

// Metropolis-Hastings with such a proposal. Proposals of all chains are evaluated as one batch, energy and
// gradient together; those of the current states are kept. For a quadratic energy both follow from the flips.
class GradientSampler : public Sampler {
 public:
  // `metropolis` false accepts every proposal: the unadjusted, biased sampler.
  GradientSampler(const EnergyPath& target, const GradientOptions& options, int threads, uint32_t purpose,
                  Proposal proposal, bool metropolis = true)
      : target_(target),
        by_differences_(options.gradient == GradientSource::kDifferences),
        variables_(target.variables()),
        independent_(target.base->independent()),
        threads_(threads),
        purpose_(purpose),
        proposal_(std::move(proposal)),
        metropolis_(metropolis) {
    if (by_differences_) target_.energy = WithDifferences(target.energy);
  }

  void Step(Chains& chains, int64_t steps) final;

 private:
  struct Move {
    RandomStream random;
    std::vector<int32_t> flips;        // of binary variables
    std::vector<StateChange> changes;  // where some variables have more than two states
    double log_forward = 0;
  };

  void CountEvaluations(Chains& chains) const;
  void EvaluateStates(Chains& chains) const;
  void Propose(const Chains& chains, const FreeSites& free, int64_t chain);
  void ProposeFlips(const Chains& chains, std::span<const int32_t> sites, int64_t chain);
  void ProposeChanges(const Chains& chains, std::span<const int32_t> sites, int64_t chain);
  void EvaluateProposals(Chains& chains);
  void FollowFlips(const Chains& chains, int64_t chain);
  double LogReverse(const Chains& chains, std::span<const int32_t> sites, int64_t chain) const;
  bool Accept(const Chains& chains, const FreeSites& free, int64_t chain);
  void Take(Chains& chains, int64_t chain) const;
  void Gains(double beta, std::span<const int32_t> sites, const float* state, const float* gradient,
             const float* base_gradient, std::vector<double>& gains) const;
  LocalStates Local(double beta, std::span<const int32_t> sites, const float* state, const float* gradient,
                    const float* base_gradient) const;

  EnergyPath target_;
  bool by_differences_;
  Variables variables_;
  const ProductBase* independent_;  // null: the base is something else
  int threads_;
  uint32_t purpose_;
  Proposal proposal_;
  bool metropolis_;
  std::vector<Move> moves_;
  std::vector<float> states_;  // proposed, as in Chains
  std::vector<double> energies_;
  std::vector<double> base_energies_;
  std::vector<float> gradients_;
  std::vector<float> base_gradients_;  // only where the base is not independent
};

}  // namespace ort_ed
