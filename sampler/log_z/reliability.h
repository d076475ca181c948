#pragma once

#include <cmath>
#include <string>

#include "ort_ed/log_z.h"

namespace ort_ed {

// With fewer effective samples than this a few weights carry the mean, and its standard error is no error
// bar.
inline constexpr double kFewestEffectiveSamples = 20;

// Empty, or a warning in words: `what` are the samples, `advice` what to do.
inline std::string WhyUnreliable(const WeightSummary& summary, int64_t samples, const std::string& what,
                                 const std::string& advice) {
  if (!std::isfinite(summary.log_mean)) return "the estimate is not finite: the model's energies overflow";
  if (summary.effective >= kFewestEffectiveSamples) return "";
  if (summary.effective > 0.9 * static_cast<double>(samples))
    return "so few " + what + " (" + std::to_string(samples) +
           ") tell little about the error of the estimate; take more";
  const auto effective = static_cast<int64_t>(summary.effective * 10);
  return "only " + std::to_string(effective / 10) + "." + std::to_string(effective % 10) + " effective " +
         what + " of " + std::to_string(samples) + ": neither the estimate nor its error is reliable; " +
         advice;
}

}  // namespace ort_ed
