#pragma once

#include <optional>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// The base to learn for these rows where nothing is said of base and method; nothing where noise alone does
// as well: few states, few or endless rows, a network with fields of its own. Measured in docs/training.md.
std::optional<Choice> ChooseLearnedBase(const NetworkOptions& network, const Dataset& dataset);

// Whether the options of a base that is open are those it has anyway: files written by programs name
// everything.
bool IsAtDefault(const Choice& base);

// Where the base is open and an option of made is given, it is made. Those
// of files that name everything choose nothing. Throws OptionError for an option that made does not have.
void ChooseBaseByOptions(Choice& base);

}  // namespace ort_ed
