#include <algorithm>
#include <cmath>
#include <numeric>

#include "sampler/kinds/gradient_sampler.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kPasPurpose = 0x00504153;  // "PAS"

// The path-auxiliary proposal (Sun et al. 2022, the fast variant): a path of flips, each drawn by its gain to
// first order around the start; a flip that was made has the opposite gain. The reverse path runs back from
// the end, with the gains around the end.
class FlipPath final : public FlipProposal {
 public:
  explicit FlipPath(int mean_length) : mean_length_(mean_length) {}

  double Propose(std::span<const double> gains, RandomStream& random,
                 std::vector<int32_t>& flips) const override {
    Walk walk(gains);
    for (uint32_t left = 1 + random.Below(2 * mean_length_ - 1); left > 0; --left) {
      flips.push_back(static_cast<int32_t>(DrawWeighted(walk.weights, walk.total(), random)));
      walk.Flip(flips.back());
    }
    return walk.log_probability;
  }

  double LogReverse(std::span<const double> gains, std::span<const int32_t> flips) const override {
    Walk walk(gains);
    std::for_each(flips.rbegin(), flips.rend(), [&](int32_t flip) { walk.Flip(flip); });
    return walk.log_probability;
  }

 private:
  struct Walk {
    explicit Walk(std::span<const double> gains) : weights(gains.size()) {
      std::transform(gains.begin(), gains.end(), weights.begin(), [](double gain) { return std::exp(gain); });
    }

    // Summed anew: weights differ by so many orders of magnitude that an updated sum would lose the small
    // ones.
    double total() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }

    void Flip(int32_t k) {
      log_probability += std::log(weights[k]) - std::log(total());
      weights[k] = 1 / weights[k];
    }

    std::vector<double> weights;
    double log_probability = 0;
  };

  uint32_t mean_length_;
};

// The same by variables and states: to first order around the start, a variable gains on its way from any
// state to any other what the difference of their slopes says.
class ChangePath final : public ChangeProposal {
 public:
  explicit ChangePath(int mean_length) : mean_length_(mean_length) {}

  double Propose(const LocalStates& local, RandomStream& random,
                 std::vector<StateChange>& changes) const override {
    Walk walk(local);
    for (uint32_t left = 1 + random.Below(2 * mean_length_ - 1); left > 0; --left) {
      const auto to = static_cast<int32_t>(DrawWeighted(walk.weights, walk.total(), random));
      changes.push_back({walk.current[local.variable_of(to)], to});
      walk.Go(to);
    }
    return walk.log_probability;
  }

  double LogReverse(const LocalStates& local, std::span<const StateChange> changes) const override {
    Walk walk(local);
    std::for_each(changes.rbegin(), changes.rend(), [&](const StateChange& change) { walk.Go(change.from); });
    return walk.log_probability;
  }

 private:
  struct Walk {
    explicit Walk(const LocalStates& states) : local(states), weights(MoveWeights(states)) {
      for (int64_t v = 0; v < states.size(); ++v) current.push_back(states.current(v));
    }

    double total() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }

    void Go(int32_t to) {
      log_probability += std::log(weights[to]) - std::log(total());
      const int32_t variable = local.variable_of(to);
      current[variable] = to;
      for (int32_t state = local.first(variable); state < local.end(variable); ++state)
        weights[state] = state == to ? 0 : std::exp(local.Gain(to, state));
    }

    const LocalStates& local;
    std::vector<double> weights;
    std::vector<int32_t> current;  // of each variable
    double log_probability = 0;
  };

  uint32_t mean_length_;
};

class Pas final : public GradientSampler {
 public:
  struct Options {
    int path_length = 5;
    GradientOptions gradient;
    static void Describe(Declare<Options>& declare) {
      declare("path_length", &Options::path_length, "[1, inf)", "mean number of changes in a proposal");
      declare.All(&Options::gradient);
    }
  };

  Pas(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, options.gradient, threads, kPasPurpose,
                        {std::make_unique<FlipPath>(options.path_length),
                         std::make_unique<ChangePath>(options.path_length)}) {}
};

}  // namespace

extern const SamplerKind kPasSampler = MakeSamplerKind<Pas>(
    "pas", "path-auxiliary: a path of flips drawn by their gains", {.needs_gradient = true});

}  // namespace ort_ed
