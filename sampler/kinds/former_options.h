#pragma once

#include "ort_ed/sampler.h"

namespace ort_ed {

// The former SamplerOptions as options of the sampler with that name; those of other samplers are left out.
Choice TranslateOptions(const std::string& sampler, const SamplerOptions& former);

}  // namespace ort_ed
