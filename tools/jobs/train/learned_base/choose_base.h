#pragma once

#include <optional>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// The base to learn for these rows where nothing is said of base and method; nothing where noise alone does
// as well: few states, few or endless rows, a network with fields of its own. Measured in docs/training.md.
std::optional<Choice> ChooseLearnedBase(const NetworkOptions& network, const Dataset& dataset);

}  // namespace ort_ed
