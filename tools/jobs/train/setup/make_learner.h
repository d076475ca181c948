#pragma once

#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// The learner of a run whose model and negatives are made. Throws OptionError where the negatives need what
// the model cannot give.
void MakeLearner(RunSetup& setup, PreparedModel network);

LearnerOptions MakeLearnerOptions(const RunSetup& setup);

}  // namespace ort_ed
