#include <cmath>

#include "sampler/kinds/gradient_sampler.h"
#include "sampler/kinds/heat_bath.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

struct LangevinOptions {
  double step_size = 0.2;
  static void Describe(Declare<LangevinOptions>& declare) {
    declare("step_size", &LangevinOptions::step_size, "(0, inf)", "alpha");
  }
};

// The discrete Langevin proposal (Zhang, Liu and Liu 2022): every coordinate flips on its own with
// probability sigmoid(gain - 1 / (2 alpha)).
class LangevinFlips final : public FlipProposal {
 public:
  explicit LangevinFlips(double step_size) : cost_(1 / (2 * step_size)) {}

  double Propose(std::span<const double> gains, RandomStream& random,
                 std::vector<int32_t>& flips) const override {
    for (size_t k = 0; k < gains.size(); ++k)
      if (HeatBath(gains[k] - cost_, random.Next32())) flips.push_back(static_cast<int32_t>(k));
    return LogProbability(gains, flips);
  }

  double LogReverse(std::span<const double> gains, std::span<const int32_t> flips) const override {
    return LogProbability(gains, flips);
  }

 private:
  double LogProbability(std::span<const double> gains, std::span<const int32_t> flips) const {
    double sum = 0;
    for (const double gain : gains) sum -= std::log1p(std::exp(gain - cost_));  // no flip
    for (const int32_t flip : flips) sum += gains[flip] - cost_;
    return sum;
  }

  double cost_;
};

enum class Correction : bool { kNone, kMetropolis };

template <uint32_t purpose, Correction correction>
class Langevin final : public GradientSampler {
 public:
  using Options = LangevinOptions;

  Langevin(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, threads, purpose, std::make_unique<LangevinFlips>(options.step_size),
                        correction == Correction::kMetropolis) {}
};

using Dula = Langevin<0x44554C41, Correction::kNone>;         // "DULA"
using Dmala = Langevin<0x444D414C, Correction::kMetropolis>;  // "DMAL"

}  // namespace

extern const SamplerKind kDulaSampler =
    MakeSamplerKind<Dula>("dula", "discrete Langevin, unadjusted: fast, biased by its step size",
                          {.needs_gradient = true, .exact = false});
extern const SamplerKind kDmalaSampler =
    MakeSamplerKind<Dmala>("dmala", "discrete Langevin with Metropolis correction", {.needs_gradient = true});

}  // namespace ort_ed
