#include <algorithm>
#include <cmath>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kStartPurpose = 0x5246534C;    // "RFSL": where to begin
constexpr uint32_t kNetworkPurpose = 0x5246534E;  // "RFSN": in whose order
constexpr uint32_t kRefillPurpose = 0x5246494C;   // "RFIL": what comes there
constexpr uint32_t kAcceptPurpose = 0x52464143;   // "RFAC"

// Metropolis-Hastings with proposals of an autoregressive base: what it draws from some position on is drawn
// anew, given what stands before. That leaves p0 as it is, so that at inverse temperature beta, where the
// density is p0 exp(-beta (U - U0)), only the change of U - U0 decides. Of a mixture the network k ~ p(k | x)
// is drawn first: what is left invariant is the law p_k(x) / K exp(-beta (U - U0)) of x and k together.
class Refill final : public Sampler {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };

  Refill(const EnergyPath& target, const Options&, int) : target_(target) {}

  void Step(Chains& chains, int64_t steps) override {
    chains.gradients.clear();
    chains.base_gradients.clear();
    const std::vector<int64_t> first_free = FirstFree(chains);
    for (int64_t step = 0; step < steps; ++step, ++chains.step) RunStep(chains, first_free);
  }

 private:
  const AutoregressiveBase& base() const { return *target_.base->autoregressive(); }

  // The position from which on everything may change.
  std::vector<int64_t> FirstFree(const Chains& chains) const {
    std::vector<int64_t> first(chains.count);
    if (chains.clamped.empty()) return first;
    if (base().networks() > 1)
      throw Error(
          ErrorCode::kInvalidArgument,
          "sampler 'refill' cannot keep variables where the base draws in several orders: use 'gibbs'");
    const std::span<const int32_t> order = base().order();
    const auto clamped = [&](int64_t chain, int64_t position) {
      return chains.IsClamped(chain, variables_.first_bit(order[position]));
    };
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      int64_t& position = first[chain];
      while (position < variables_.size() && clamped(chain, position)) ++position;
      for (int64_t later = position; later < variables_.size(); ++later)
        if (clamped(chain, later))
          throw Error(ErrorCode::kInvalidArgument,
                      "sampler 'refill' can keep only variables that the base draws before all others; "
                      "variable " +
                          std::to_string(order[later]) + " is not one of them: use 'gibbs'");
    }
    return first;
  }

  void RunStep(Chains& chains, const std::vector<int64_t>& first_free) {
    starts_.resize(chains.count);
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      RandomStream random(chains.seed, kStartPurpose, chains.step, chains.first_chain + chain);
      const auto choices = static_cast<uint32_t>(variables_.size() - first_free[chain]);
      starts_[chain] = first_free[chain] + (choices == 0 ? 0 : random.Below(choices));
    }
    states_ = chains.states;
    const std::vector<int32_t> networks =
        base().DrawNetworks({chains.seed, kNetworkPurpose, chains.step, chains.first_chain}, states_);
    base().Refill({chains.seed, kRefillPurpose, chains.step, chains.first_chain}, starts_, states_, networks);
    energies_.resize(chains.count);
    base_energies_.resize(chains.count);
    target_.energy->Energy(states_, energies_);
    base().Energy(states_, base_energies_);
    chains.counters.energy_evaluations += chains.count;
    for (int64_t chain = 0; chain < chains.count; ++chain) Decide(chains, chain);
  }

  void Decide(Chains& chains, int64_t chain) const {
    RandomStream random(chains.seed, kAcceptPurpose, chains.step, chains.first_chain + chain);
    const double before = chains.energies[chain] - chains.base_energies[chain];
    const double after = energies_[chain] - base_energies_[chain];
    ++chains.counters.proposals;
    if (!(std::log(random.UniformDouble()) < chains.betas[chain] * (before - after))) return;
    ++chains.counters.acceptances;
    const auto proposed = std::span(states_).subspan(chain * chains.dimension, chains.dimension);
    const int64_t distance = CountChanges(proposed.data(), chains.state(chain).data());
    if (distance == 0) return;
    ++chains.counters.moves;
    chains.counters.bits_flipped += distance;
    std::ranges::copy(proposed, chains.state(chain).begin());
    chains.energies[chain] = energies_[chain];
    chains.base_energies[chain] = base_energies_[chain];
  }

  // Variables that differ.
  int64_t CountChanges(const float* a, const float* b) const {
    int64_t changes = 0;
    for (int64_t v = 0; v < variables_.size(); ++v)
      changes += variables_.State(a, v) != variables_.State(b, v) ? 1 : 0;
    return changes;
  }

  EnergyPath target_;
  Variables variables_ = base().variables();
  std::vector<int64_t> starts_;
  std::vector<float> states_;  // proposed, as in Chains
  std::vector<double> energies_, base_energies_;
};

}  // namespace

extern const SamplerKind kRefillSampler = MakeSamplerKind<Refill>(
    "refill", "for models with a learned base: its draws from some variable on, accepted or not",
    {.needs_autoregressive_base = true});

}  // namespace ort_ed
