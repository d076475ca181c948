#include "tools/jobs/check.h"

#include "tools/jobs/stopwatch.h"

namespace ort_ed {

CheckResult Check(const LoadedModel& model, const GradientCheckOptions& options, Observer& observer) {
  const Stopwatch stopwatch;
  CheckResult result;
  result.check = CheckModel(model.proto(), model.name(),
                            {.rows = options.rows,
                             .seed = options.seed,
                             .on_progress = Watch(observer, "comparing gradients", "tensors")});
  result.seconds = stopwatch.Seconds();
  return result;
}

std::string AdviceOnBlindSpots(const std::vector<BlindSpot>& spots) {
  return DescribeBlindSpots(spots) +
         ": gradient-guided samplers need --gradient differences; Gibbs sampling does without";
}

}  // namespace ort_ed
