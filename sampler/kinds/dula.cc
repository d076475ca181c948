#include "sampler/kinds/langevin_flips.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDulaPurpose = 0x44554C41;  // "DULA"

std::unique_ptr<Sampler> MakeDula(const EnergyPath& target, const SamplerOptions& options) {
  return std::make_unique<GradientSampler>(target, options, kDulaPurpose,
                                           std::make_unique<LangevinFlips>(options.step_size), false);
}

}  // namespace

const SamplerKind kDulaSampler = {"dula", "discrete Langevin, unadjusted: fast, biased by its step size",
                                  true, false, MakeDula};

}  // namespace ort_ed
