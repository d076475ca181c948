#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace ort_ed {

// "--learning-rate" for learning_rate.
std::string OptionName(const std::string& key);

// What to write behind the option: "N", "FILE", "adam|sgd".
std::string Metavar(const Option& option);

// The words behind the command's name, as options by key. Throws UsageError or OptionError.
GivenOptions ParseArguments(const Command& command, const std::vector<std::string>& words);

}  // namespace ort_ed
