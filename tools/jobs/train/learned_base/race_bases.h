#pragma once

#include <memory>
#include <optional>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// Trains each of a few kinds of bases for a short while, in memory, and returns the options of the one under
// which held-out rows are most likely. Options of the run that are
// not at their defaults hold for all of them.
// `seconds`: for all together; nothing: by steps alone, so that a run can be repeated. Returns nothing if the
// observer asked to stop.
std::optional<Choice> RaceBases(const TrainOptions& options, const std::shared_ptr<Dataset>& dataset,
                                std::optional<double> seconds, Observer& observer);

}  // namespace ort_ed
