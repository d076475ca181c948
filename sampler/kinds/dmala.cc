#include "sampler/kinds/langevin_flips.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDmalaPurpose = 0x444D414C;  // "DMAL"

class Dmala final : public GradientSampler {
 public:
  using Options = LangevinOptions;

  Dmala(const EnergyPath& target, const Options& options, int threads)
      : GradientSampler(target, threads, kDmalaPurpose, std::make_unique<LangevinFlips>(options.step_size),
                        true) {}
};

}  // namespace

extern const SamplerKind kDmalaSampler =
    MakeSamplerKind<Dmala>("dmala", "discrete Langevin with Metropolis correction", {.needs_gradient = true});

}  // namespace ort_ed
