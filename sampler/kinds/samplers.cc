#include "sampler/kinds/sampler_kinds.h"

namespace ort_ed {

std::span<const SamplerKind* const> Samplers() {
  static constexpr const SamplerKind* kSamplers[] = {
      &kGibbsSampler, &kBlockGibbsSampler, &kGwgSampler,       &kDulaSampler,
      &kDmalaSampler, &kPasSampler,        &kTemperingSampler,
  };
  return kSamplers;
}

}  // namespace ort_ed
