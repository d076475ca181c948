#pragma once

#include <span>

#include "ort_ed/log_z.h"

namespace ort_ed {

// The estimate of a reverse annealing whose chains started where forward chains ended, chain by chain, where
// each start counts by the weight of the chain that ended there: 1/Z is the mean of 1/w by those weights. The
// error is that of both.
LogZEstimate CountByWeight(LogZEstimate estimate, std::span<const double> reverse_log_weights,
                           std::span<const double> start_log_weights);

}  // namespace ort_ed
