#include <algorithm>
#include <cmath>
#include <numeric>

#include "sampler/kinds/gradient_sampler.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kGwgPurpose = 0x00475747;  // "GWG"

// Gibbs-with-gradients (Grathwohl et al. 2021): coordinates drawn with probability proportional to exp(gain),
// all from the weights of the current state. A coordinate that comes twice flips back, so that even numbers
// alone would keep the parity of a state for ever.
class LocallyInformedFlips final : public FlipProposal {
 public:
  explicit LocallyInformedFlips(int flips) : flips_(flips) {}

  double Propose(std::span<const double> gains, RandomStream& random,
                 std::vector<int32_t>& flips) const override {
    std::vector<double> weights(gains.size());
    for (size_t k = 0; k < gains.size(); ++k) weights[k] = std::exp(gains[k]);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    // The way back has as many, so that their probability does not matter.
    const int count = flips_ % 2 == 0 ? flips_ - static_cast<int>(random.Below(2)) : flips_;
    for (int flip = 0; flip < count; ++flip)
      flips.push_back(static_cast<int32_t>(DrawWeighted(weights, total, random)));
    return LogProbability(gains, total, flips);
  }

  double LogReverse(std::span<const double> gains, std::span<const int32_t> flips) const override {
    double total = 0;
    for (const double gain : gains) total += std::exp(gain);
    return LogProbability(gains, total, flips);
  }

 private:
  static double LogProbability(std::span<const double> gains, double total, std::span<const int32_t> flips) {
    double sum = 0;
    for (const int32_t flip : flips) sum += gains[flip] - std::log(total);
    return sum;
  }

  int flips_;
};

// The same by variables and states: `flips` changes of distinct variables, or as many as there are. Where a
// variable comes twice, which could not be undone by the same rule, the chain stays.
class LocallyInformedChanges final : public ChangeProposal {
 public:
  explicit LocallyInformedChanges(int changes) : changes_(changes) {}

  double Propose(const LocalStates& local, RandomStream& random,
                 std::vector<StateChange>& changes) const override {
    const std::vector<double> weights = MoveWeights(local);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<uint8_t> changed(local.size());
    double log_probability = 0;
    const int count = Count(local, random);
    for (int i = 0; i < count; ++i) {
      const auto to = static_cast<int32_t>(DrawWeighted(weights, total, random));
      if (changed[local.variable_of(to)]++ != 0) {
        changes.clear();
        return 0;
      }
      changes.push_back({local.current(local.variable_of(to)), to});
      log_probability += local.Gain(to) - std::log(total);
    }
    return log_probability;
  }

  double LogReverse(const LocalStates& local, std::span<const StateChange> changes) const override {
    const std::vector<double> weights = MoveWeights(local);
    const double log_total = std::log(std::accumulate(weights.begin(), weights.end(), 0.0));
    double sum = 0;
    for (const StateChange& change : changes) sum += local.Gain(change.from) - log_total;
    return sum;
  }

 private:
  // Even numbers alone would keep the parity of variables with two states, and all at once how these stand to
  // one another: there it is any number up to that.
  int Count(const LocalStates& local, RandomStream& random) const {
    const int most = static_cast<int>(std::min<int64_t>(changes_, local.size()));
    return most > 1 && (most % 2 == 0 || most == local.size())
               ? 1 + static_cast<int>(random.Below(static_cast<uint32_t>(most)))
               : most;
  }

  int changes_;
};

class Gwg final : public GradientSampler {
 public:
  struct Options {
    int flips = 1;
    GradientOptions gradient;
    static void Describe(Declare<Options>& declare) {
      declare(
          "flips", &Options::flips, "[1, inf)",
          "variables proposed at once; now and then fewer where a fixed number, such as an even one, would "
          "never reach some states");
      declare.All(&Options::gradient);
    }
  };

  Gwg(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, options.gradient, threads, kGwgPurpose,
                        {std::make_unique<LocallyInformedFlips>(options.flips),
                         std::make_unique<LocallyInformedChanges>(options.flips)}) {}
};

}  // namespace

extern const SamplerKind kGwgSampler = MakeSamplerKind<Gwg>(
    "gwg", "Gibbs-with-gradients: flips drawn by their first-order gain", {.needs_gradient = true});

}  // namespace ort_ed
