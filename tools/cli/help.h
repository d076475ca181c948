#pragma once

#include <string>

#include "tools/cli/command.h"

namespace ort_ed {

// `ort-ed --help`.
std::string OverviewText();

// `ort-ed COMMAND --help`: usage, options with their defaults and kinds, examples.
std::string HelpText(const Command& command);

}  // namespace ort_ed
