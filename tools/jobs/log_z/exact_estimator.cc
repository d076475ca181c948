#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

struct ExactOptions {
  static void Describe(Declare<ExactOptions>&) {}
};

LogZOutcome Estimate(const LogZRequest& request, const OptionMap&, Observer& observer) {
  return {.estimate = ExactLogZ(*request.energy.get(), Watch(observer, "enumerating", "states"))};
}

}  // namespace

const EstimatorKind kExactEstimator = {"exact", "all 2^D states, D up to 26", &SchemaOf<ExactOptions>,
                                       Estimate};

}  // namespace ort_ed
