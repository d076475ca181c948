#include <array>

#include "ort_ed/error.h"
#include "ort_ed/sampler.h"
#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {

std::span<const SamplerKind* const> Samplers() {
  static constexpr std::array kSamplers = {&kGibbsSampler,    &kBlockGibbsSampler, &kGwgSampler,
                                           &kDulaSampler,     &kDmalaSampler,      &kPasSampler,
                                           &kTemperingSampler};
  return kSamplers;
}

const SamplerKind& FindSampler(const std::string& name) {
  std::string known;
  for (const SamplerKind* entry : Samplers()) {
    if (name == entry->name) return *entry;
    known += (known.empty() ? "" : ", ") + std::string(entry->name);
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown sampler '" + name + "'; the samplers are " + known);
}

std::unique_ptr<Sampler> MakeSampler(const std::string& name, const EnergyPath& target,
                                     const SamplerOptions& options) {
  const SamplerKind& entry = FindSampler(name);
  if (entry.needs_gradient && !target.energy->HasGradient()) {
    throw Error(ErrorCode::kInvalidArgument,
                "sampler '" + name +
                    "' needs the gradient of the energy, and this model carries none; export the "
                    "model with its gradient, or use 'gibbs'");
  }
  return entry.make(target, options);
}

}  // namespace ort_ed
