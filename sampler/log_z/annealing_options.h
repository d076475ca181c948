#pragma once

#include "ort_ed/log_z.h"

namespace ort_ed {

std::unique_ptr<Sampler> MakeAnnealingSampler(const EnergyPath& target, const AnnealingOptions& options);

}  // namespace ort_ed
