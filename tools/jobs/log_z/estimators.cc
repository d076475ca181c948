#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {

std::span<const EstimatorKind* const> Estimators() {
  static constexpr const EstimatorKind* kinds[] = {
      &kAisEstimator,    &kRaiseEstimator,    &kExactEstimator, &kImportanceEstimator,
      &kPolicyEstimator, &kMetadataEstimator, &kAutoEstimator,  &kKnownEstimator,
  };
  return kinds;
}

}  // namespace ort_ed
