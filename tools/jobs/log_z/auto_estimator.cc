#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

// Up to this dimension log Z is simply computed.
constexpr int64_t kEnumerateUpTo = 20;

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  if (request.model.dimension() <= kEnumerateUpTo) return kExactEstimator.estimate(request, {}, observer);
  return kAisEstimator.estimate(request, options, observer);
}

Choice ChooseSampler(const OptionMap& options) { return kAisEstimator.sampler(options); }

}  // namespace

const EstimatorKind kAutoEstimator = {"auto", "exact up to D = 20, else ais, whose options it takes",
                                      []() -> const Schema& { return kAisEstimator.schema(); }, Estimate,
                                      ChooseSampler};

}  // namespace ort_ed
