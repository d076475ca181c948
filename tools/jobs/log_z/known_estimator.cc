#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  if (request.model.metadata().log_z) return kMetadataEstimator.estimate(request, {}, observer);
  return kAutoEstimator.estimate(request, options, observer);
}

Choice ChooseSampler(const OptionMap& options) { return kAutoEstimator.sampler(options); }

}  // namespace

const EstimatorKind kKnownEstimator = {"known", "what the model's metadata say, else as auto",
                                       []() -> const Schema& { return kAutoEstimator.schema(); }, Estimate,
                                       ChooseSampler};

}  // namespace ort_ed
