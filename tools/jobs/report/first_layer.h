#pragma once

#include <optional>

#include "tools/jobs/report/report.h"

namespace ort_ed {

// The first parameter of the model that is a matrix with a side of dimension() values, as units with a weight
// for each variable, at most `most` of them; nothing where there is none, as in convolutional networks.
std::optional<FirstLayer> ReadFirstLayer(const LoadedModel& model, int64_t most);

}  // namespace ort_ed
