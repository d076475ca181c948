#pragma once

#include "tools/jobs/train/metrics.h"
#include "tools/picture/canvas.h"

namespace ort_ed {

// The curves of a training: losses, energies, gradient norm, learning rate and whatever else was logged.
Canvas TrainingCurvesPicture(const RunMetrics& metrics);

}  // namespace ort_ed
