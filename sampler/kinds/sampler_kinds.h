#pragma once

#include "ort_ed/sampler.h"

// The rows of the table of samplers; each is defined in the file of its sampler.

namespace ort_ed {

extern const SamplerKind kGibbsSampler;
extern const SamplerKind kBlockGibbsSampler;
extern const SamplerKind kGwgSampler;
extern const SamplerKind kDulaSampler;
extern const SamplerKind kDmalaSampler;
extern const SamplerKind kPasSampler;
extern const SamplerKind kTemperingSampler;

}  // namespace ort_ed
