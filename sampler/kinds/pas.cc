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

class Pas final : public GradientSampler {
 public:
  struct Options {
    int path_length = 5;
    static void Describe(Declare<Options>& declare) {
      declare("path_length", &Options::path_length, "[1, inf)", "mean number of flips of a proposal");
    }
  };

  Pas(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, threads, kPasPurpose, std::make_unique<FlipPath>(options.path_length)) {}
};

}  // namespace

extern const SamplerKind kPasSampler = MakeSamplerKind<Pas>(
    "pas", "path-auxiliary: a path of flips drawn by their gains", {.needs_gradient = true});

}  // namespace ort_ed
