#include <algorithm>
#include <cmath>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kSwapPurpose = 0x53574150;     // "SWAP"
constexpr uint32_t kReplicaPurpose = 0x5245504C;  // "REPL"

// Parallel tempering: every chain has replicas at lower inverse temperatures, moved by another sampler in one
// batch with all others; after each step neighbouring temperatures try to exchange their states. Row c * T +
// t is chain c at temperature t; t = 0 is the chain's own.
class Tempering final : public Sampler {
 public:
  struct Options {
    Choice inner = "gibbs";
    int temperatures = 8;
    double lowest_beta = 0.1;
    static void Describe(Declare<Options>& declare) {
      // As in annealing: it leaves each temperature's distribution as it is, and moves at one temperature.
      declare("inner", &Options::inner, AnnealingSamplerTable, "the sampler at each temperature");
      declare("temperatures", &Options::temperatures, "[2, inf)", "how many");
      declare("lowest_beta", &Options::lowest_beta, "(0, 1)",
              "inverse temperature of the hottest, relative to beta");
    }
  };

  Tempering(const EnergyPath& target, const Options& options, int threads)
      : target_(target), options_(options), inner_(MakeSampler(options.inner, target, threads)) {}

  void Step(Chains& chains, int64_t steps) override {
    ReadChains(chains);
    for (int64_t step = 0; step < steps; ++step) {
      inner_->Step(replicas_, 1);
      for (int64_t chain = 0; chain < chains.count; ++chain) SwapNeighbours(chain);
    }
    WriteChains(chains);
  }

  void StepReversed(Chains&, int64_t) override {
    throw Error(ErrorCode::kInvalidArgument, "tempering cannot run backwards; use the sampler inside it");
  }

 private:
  int64_t temperatures() const { return options_.temperatures; }

  // Replicas start where their chain does, on its clamped values.
  void StartReplicas(const Chains& chains) {
    replicas_ = {};
    replicas_.count = chains.count * temperatures();
    replicas_.dimension = chains.dimension;
    for (int64_t row = 0; row < replicas_.count; ++row) {
      const int64_t chain = row / temperatures();
      const std::span<const float> state = chains.state(chain);
      replicas_.states.insert(replicas_.states.end(), state.begin(), state.end());
      replicas_.energies.push_back(chains.energies[chain]);
      replicas_.base_energies.push_back(chains.base_energies[chain]);
    }
    replicas_.first_chain = chains.first_chain * temperatures();
    replicas_.seed = RandomStream(chains.seed, kReplicaPurpose, 0, 0).Next64();
  }

  int64_t hotter_size(const Chains& chains) const { return (temperatures() - 1) * chains.dimension; }

  // The states of a chain's hotter replicas, one after the other.
  std::span<float> HotterStates(const Chains& chains, int64_t chain) {
    return {replicas_.states.data() + (chain * temperatures() + 1) * chains.dimension,
            static_cast<size_t>(hotter_size(chains))};
  }

  // Those of the last step, with the values of the chain where it is clamped.
  const std::vector<float>& SavedStates(const Chains& chains) {
    if (chains.clamped.empty()) return chains.replicas;
    saved_ = chains.replicas;
    for (int64_t i = 0; i < std::ssize(saved_); ++i) {
      const int64_t chain = i / hotter_size(chains), site = i % chains.dimension;
      if (chains.IsClamped(chain, site)) saved_[i] = chains.state(chain)[site];
    }
    return saved_;
  }

  bool HasReplicas(const Chains& chains, const std::vector<float>& states) {
    if (replicas_.count != chains.count * temperatures() || replicas_.dimension != chains.dimension)
      return false;
    auto state = states.begin();
    for (int64_t chain = 0; chain < chains.count; ++chain, state += hotter_size(chains)) {
      const std::span<float> hotter = HotterStates(chains, chain);
      if (!std::equal(hotter.begin(), hotter.end(), state)) return false;
    }
    return true;
  }

  void LoadReplicas(const Chains& chains) {
    if (std::ssize(chains.replicas) != chains.count * hotter_size(chains)) return StartReplicas(chains);
    const std::vector<float>& states = SavedStates(chains);
    if (HasReplicas(chains, states)) return;
    StartReplicas(chains);
    auto state = states.begin();
    for (int64_t chain = 0; chain < chains.count; ++chain, state += hotter_size(chains))
      std::copy_n(state, hotter_size(chains), HotterStates(chains, chain).begin());
    target_.energy->Energy(replicas_.states, replicas_.energies);
    target_.base->Energy(replicas_.states, replicas_.base_energies);
  }

  // The caller may have changed anything between two calls.
  void ReadChains(const Chains& chains) {
    LoadReplicas(chains);
    replicas_.step = chains.step;
    replicas_.counters = {};
    replicas_.betas.clear();
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      for (int64_t t = 0; t < temperatures(); ++t)
        replicas_.betas.push_back(chains.betas[chain] * RelativeBeta(t));
      const int64_t own = chain * temperatures();
      if (!std::ranges::equal(chains.state(chain), replicas_.state(own))) {
        std::ranges::copy(chains.state(chain), replicas_.state(own).begin());
        replicas_.gradients.clear();
        replicas_.base_gradients.clear();
      }
      replicas_.energies[own] = chains.energies[chain];
      replicas_.base_energies[own] = chains.base_energies[chain];
    }
    ReadClamps(chains);
  }

  void ReadClamps(const Chains& chains) {
    replicas_.clamped = chains.clamped;
    if (chains.clamped.empty() || std::ssize(chains.clamped) == chains.dimension) return;
    replicas_.clamped.clear();
    for (int64_t row = 0; row < replicas_.count; ++row) {
      const auto own = chains.clamped.begin() + row / temperatures() * chains.dimension;
      replicas_.clamped.insert(replicas_.clamped.end(), own, own + chains.dimension);
    }
  }

  double RelativeBeta(int64_t t) const {
    if (t == 0) return 1;
    return std::pow(options_.lowest_beta, static_cast<double>(t) / static_cast<double>(temperatures() - 1));
  }

  // Pairs (0,1), (2,3), ... and (1,2), (3,4), ... take turns.
  void SwapNeighbours(int64_t chain) {
    RandomStream random(replicas_.seed, kSwapPurpose, replicas_.step,
                        replicas_.first_chain / temperatures() + chain);
    for (int64_t t = static_cast<int64_t>(replicas_.step % 2); t + 1 < temperatures(); t += 2) {
      const int64_t a = chain * temperatures() + t;
      const int64_t b = a + 1;
      const double log_ratio =
          (replicas_.betas[a] - replicas_.betas[b]) * ((replicas_.energies[a] - replicas_.base_energies[a]) -
                                                       (replicas_.energies[b] - replicas_.base_energies[b]));
      ++replicas_.counters.swap_proposals;
      if (!(std::log(random.UniformDouble()) < log_ratio)) continue;
      ++replicas_.counters.swap_acceptances;
      SwapRows(a, b);
    }
  }

  void SwapRows(int64_t a, int64_t b) {
    std::ranges::swap_ranges(replicas_.state(a), replicas_.state(b));
    std::swap(replicas_.energies[a], replicas_.energies[b]);
    std::swap(replicas_.base_energies[a], replicas_.base_energies[b]);
    for (std::vector<float>* gradients : {&replicas_.gradients, &replicas_.base_gradients}) {
      if (gradients->empty()) continue;
      const auto row = [&](int64_t index) { return gradients->begin() + index * replicas_.dimension; };
      std::swap_ranges(row(a), row(a) + replicas_.dimension, row(b));
    }
  }

  void WriteChains(Chains& chains) {
    chains.replicas.clear();
    for (int64_t chain = 0; chain < chains.count; ++chain) {
      const int64_t own = chain * temperatures();
      std::ranges::copy(replicas_.state(own), chains.state(chain).begin());
      chains.energies[chain] = replicas_.energies[own];
      chains.base_energies[chain] = replicas_.base_energies[own];
      const std::span<const float> hotter = HotterStates(chains, chain);
      chains.replicas.insert(chains.replicas.end(), hotter.begin(), hotter.end());
    }
    chains.gradients.clear();
    chains.base_gradients.clear();
    chains.step = replicas_.step;
    chains.counters += replicas_.counters;
  }

  EnergyPath target_;
  Options options_;
  std::unique_ptr<Sampler> inner_;
  Chains replicas_;
  std::vector<float> saved_;
};

}  // namespace

extern const SamplerKind kTemperingSampler =
    MakeSamplerKind<Tempering>("tempering", "parallel tempering around any exact one of the others");

}  // namespace ort_ed
