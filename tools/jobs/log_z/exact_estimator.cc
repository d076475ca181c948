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

const EstimatorKind kExactEstimator = {"exact", "all states, up to 2^26: 26 binary variables",
                                       &SchemaOf<ExactOptions>, Estimate};

}  // namespace ort_ed
