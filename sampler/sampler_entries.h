#pragma once

#include "ort_ed/sampler.h"

// The rows of the table of samplers; each is defined in the file of its sampler.

namespace ort_ed {

extern const SamplerEntry kGibbsSampler;
extern const SamplerEntry kBlockGibbsSampler;
extern const SamplerEntry kGwgSampler;
extern const SamplerEntry kDulaSampler;
extern const SamplerEntry kDmalaSampler;
extern const SamplerEntry kPasSampler;
extern const SamplerEntry kTemperingSampler;

}  // namespace ort_ed
