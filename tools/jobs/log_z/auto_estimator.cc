#include <fmt/format.h>

#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

// Up to this dimension log Z is simply computed.
constexpr int64_t kEnumerateUpTo = 20;

// How chains move and where they begin may be meant for other chains of the job as well.
void RefuseAnnealing(const OptionMap& options, int64_t dimension) {
  for (const char* key : {"chains", "spacing", "temperatures"})
    if (options.contains(key))
      throw OptionError(key,
                        fmt::format("has no effect with `estimator` auto and {} variables: up to {} log Z is "
                                    "computed exactly; choose `estimator` ais",
                                    dimension, kEnumerateUpTo),
                        OptionError::Problem::kNoEffect);
}

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  const int64_t dimension = request.model.dimension();
  if (dimension <= kEnumerateUpTo) {
    RefuseAnnealing(options, dimension);
    return kExactEstimator.estimate(request, {}, observer);
  }
  return kAisEstimator.estimate(request, options, observer);
}

Choice ChooseSampler(const OptionMap& options) { return kAisEstimator.sampler(options); }

}  // namespace

const EstimatorKind kAutoEstimator = {"auto", "exact up to D = 20, else ais, whose options it takes",
                                      []() -> const Schema& { return kAisEstimator.schema(); }, Estimate,
                                      ChooseSampler};

}  // namespace ort_ed
