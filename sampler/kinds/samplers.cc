// The table of samplers, and nothing else.

#include "ort_ed/sampler.h"

namespace ort_ed {

extern const SamplerKind kGibbsSampler;
extern const SamplerKind kBlockGibbsSampler;
extern const SamplerKind kGwgSampler;
extern const SamplerKind kDulaSampler;
extern const SamplerKind kDmalaSampler;
extern const SamplerKind kPasSampler;
extern const SamplerKind kRefillSampler;
extern const SamplerKind kTemperingSampler;

std::span<const SamplerKind* const> Samplers() {
  // clang-format off
  static constexpr const SamplerKind* kKinds[] = {
      &kGibbsSampler,
      &kBlockGibbsSampler,
      &kGwgSampler,
      &kDulaSampler,
      &kDmalaSampler,
      &kPasSampler,
      &kRefillSampler,
      &kTemperingSampler,
  };
  // clang-format on
  return kKinds;
}

}  // namespace ort_ed
