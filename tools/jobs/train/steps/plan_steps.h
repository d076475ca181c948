#pragma once

#include <optional>

#include "tools/jobs/observer.h"
#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// Fewer steps teach next to nothing, whatever the network.
inline constexpr int64_t kTooFewSteps = 100;

// How many steps of a run fit into `seconds`, its validations included: found by taking some, whose cost at
// every progress counts. The setup has learned from them and is to be made anew. Nothing if the observer
// asked to stop.
std::optional<int64_t> StepsThatFit(RunSetup& setup, double seconds, Observer& observer);

// Where the options give a time, they give a number of steps after this, of which `sources` has taken some:
// from there on the run is the one of that number, whatever the clock says. The setup is made anew from the
// sources. Warns of too few steps. False: the observer asked to stop. Throws OptionError where no time is
// left.
bool PlanSteps(RunSetup& setup, RunSources sources, Observer& observer);

}  // namespace ort_ed
