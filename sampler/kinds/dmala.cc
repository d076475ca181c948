#include "sampler/kinds/langevin_flips.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDmalaPurpose = 0x444D414C;  // "DMAL"

std::unique_ptr<Sampler> MakeDmala(const EnergyPath& target, const SamplerOptions& options) {
  return std::make_unique<GradientSampler>(target, options, kDmalaPurpose,
                                           std::make_unique<LangevinFlips>(options.step_size), true);
}

}  // namespace

const SamplerKind kDmalaSampler = {"dmala", "discrete Langevin with Metropolis correction", true, true,
                                   MakeDmala};

}  // namespace ort_ed
