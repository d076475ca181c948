#pragma once

#include <map>
#include <string>

#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// The options that may not change when a run is resumed, as text by key.
std::map<std::string, std::string> FixedOptions(const TrainOptions& options);

// The ort_ed.training metadata of a model trained for `step` steps: a JSON object. Tells nothing of the
// machine.
std::string DescribeTraining(const RunSetup& setup, int64_t step);

}  // namespace ort_ed
