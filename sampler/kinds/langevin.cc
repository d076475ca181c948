#include <cmath>
#include <numeric>

#include "sampler/kinds/gradient_sampler.h"
#include "sampler/kinds/heat_bath.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

struct LangevinOptions {
  double step_size = 0.2;
  GradientOptions gradient;
  static void Describe(Declare<LangevinOptions>& declare) {
    declare("step_size", &LangevinOptions::step_size, "(0, inf)", "alpha");
    declare.All(&LangevinOptions::gradient);
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

// The same by variables and states: every variable on its own, whose other states cost as much as a flip.
class LangevinChanges final : public ChangeProposal {
 public:
  explicit LangevinChanges(double step_size) : cost_(1 / (2 * step_size)) {}

  double Propose(const LocalStates& local, RandomStream& random,
                 std::vector<StateChange>& changes) const override {
    double log_probability = 0;
    for (int64_t v = 0; v < local.size(); ++v) {
      const std::vector<double> weights = Weights(local, v);
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      const size_t drawn = DrawWeighted(weights, total, random);
      const int32_t to = local.first(v) + static_cast<int32_t>(drawn);
      if (to != local.current(v)) changes.push_back({local.current(v), to});
      log_probability += std::log(weights[drawn]) - std::log(total);
    }
    return log_probability;
  }

  double LogReverse(const LocalStates& local, std::span<const StateChange> changes) const override {
    double log_probability = 0;
    for (int64_t v = 0; v < local.size(); ++v) {
      const std::vector<double> weights = Weights(local, v);
      log_probability -= std::log(std::accumulate(weights.begin(), weights.end(), 0.0));
    }
    for (const StateChange& change : changes) log_probability += local.Gain(change.from) - cost_;
    return log_probability;
  }

 private:
  // Of the states of a variable; 1 where it is.
  std::vector<double> Weights(const LocalStates& local, int64_t variable) const {
    std::vector<double> weights;
    for (int32_t state = local.first(variable); state < local.end(variable); ++state)
      weights.push_back(state == local.current(variable) ? 1 : std::exp(local.Gain(state) - cost_));
    return weights;
  }

  double cost_;
};

enum class Correction : bool { kNone, kMetropolis };

template <uint32_t purpose, Correction correction>
class Langevin final : public GradientSampler {
 public:
  using Options = LangevinOptions;

  Langevin(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, options.gradient, threads, purpose,
                        {std::make_unique<LangevinFlips>(options.step_size),
                         std::make_unique<LangevinChanges>(options.step_size)},
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
