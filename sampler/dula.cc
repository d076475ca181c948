#include "sampler/langevin_flips.h"
#include "sampler/sampler_entries.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDulaPurpose = 0x44554C41;  // "DULA"

std::unique_ptr<Sampler> MakeDula(const Target& target, const SamplerOptions& options) {
  return std::make_unique<GradientSampler>(target, options, kDulaPurpose,
                                           std::make_unique<LangevinFlips>(options.step_size), false);
}

}  // namespace

const SamplerEntry kDulaSampler = {"dula", "discrete Langevin, unadjusted: fast, biased by its step size",
                                   true, false, MakeDula};

}  // namespace ort_ed
