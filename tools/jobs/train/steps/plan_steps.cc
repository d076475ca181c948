#include "tools/jobs/train/steps/plan_steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/jobs/processes.h"
#include "tools/jobs/stopwatch.h"
#include "tools/jobs/train/steps/stepper.h"
#include "tools/jobs/train/validation/validator.h"

namespace ort_ed {
namespace {

// The first steps take memory and start threads.
constexpr int64_t kWarmUp = 2, kFewest = 3;
constexpr double kShare = 0.03, kLongest = 10;  // of the time, and in seconds
// For checkpoints, and what comes before the first and after the last step.
constexpr double kUsable = 0.97;

// Of one step. The trial goes through the whole progress of a training: some methods begin cheaper than they
// end.
std::optional<double> MeasureStep(RunSetup& setup, double seconds, Observer& observer) {
  Stepper stepper(setup);
  Stopwatch watch;
  for (int64_t step = 0;; ++step) {
    if (StopTogether(observer)) return std::nullopt;
    if (step == kWarmUp) watch.Restart();
    const double passed = setup.processes->FromFirst(watch.Seconds());
    const int64_t taken = step - kWarmUp;
    if (taken >= kFewest && passed >= seconds) return passed / static_cast<double>(taken);
    const double progress = taken < 0 || seconds <= 0 ? 0 : std::min(1.0, passed / seconds);
    stepper.Take(step, /*learning_rate=*/0, progress);
  }
}

// What validations add to a step that takes `step` seconds.
double MeasureValidation(RunSetup& setup, double step) {
  const Period& every = setup.options.run.validate_every;
  if (every.never() || setup.dataset->validation.rows == 0) return 0;
  Validator validator(setup);
  validator.Validate();  // the first one makes sessions and draws
  const Stopwatch watch;
  validator.Validate();
  const double seconds = watch.Seconds();
  return every.steps > 0 ? seconds / static_cast<double>(every.steps) : seconds * step / every.seconds;
}

}  // namespace

std::optional<int64_t> StepsThatFit(RunSetup& setup, double seconds, Observer& observer) {
  const Stopwatch watch;
  const std::optional<double> step = MeasureStep(setup, std::min(kLongest, kShare * seconds), observer);
  if (!step) return std::nullopt;
  const double cost = *step + MeasureValidation(setup, *step);
  const double left = kUsable * (seconds - watch.Seconds());
  return setup.processes->FromFirst(std::max<int64_t>(1, static_cast<int64_t>(left / cost)));
}

bool PlanSteps(RunSetup& setup, RunSources sources, Observer& observer) {
  if (!setup.options.run.time) return true;
  const double left = setup.processes->FromFirst(setup.options.run.time->seconds - setup.clock.Seconds());
  const int64_t taken = sources.checkpoint != nullptr ? sources.checkpoint->step : 0;
  if (left <= 0 && taken > 0)
    throw OptionError("time", fmt::format("is over: the run has trained for {:.0f} seconds; give more",
                                          setup.clock.Seconds()));
  const std::optional<int64_t> steps = StepsThatFit(setup, left, observer);
  if (!steps) return false;
  TrainOptions planned = setup.options;
  planned.run.steps = taken + *steps;
  observer.OnNotice(fmt::format("{} has time for {} steps{}", FormatPeriod(*planned.run.time), *steps,
                                taken > 0 ? " more" : ""));
  if (planned.run.steps < kTooFewSteps) {
    setup.warnings.push_back(fmt::format(
        "{} has time for {} steps only, which teach next to nothing: give more time, or a smaller network, "
        "batch or number of negatives",
        FormatPeriod(*planned.run.time), planned.run.steps));
    observer.OnWarning(setup.warnings.back());
  }
  planned.run.time.reset();
  sources.dataset = setup.dataset;
  setup.learner.reset();          // its memory is not needed twice
  QuietObserver quiet(observer);  // all that there is to tell has been told
  RunSetup anew = SetUp(planned, sources, quiet);
  anew.clock = setup.clock;
  anew.warnings = setup.warnings;
  setup = std::move(anew);
  return true;
}

}  // namespace ort_ed
