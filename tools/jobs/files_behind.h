#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// The files that come with an input of a command: those in which a model keeps tensors, and those of the
// folder of a run but its models and picture, which can be made anew. None where it is neither.
std::vector<std::string> FilesBehind(const std::string& input);

}  // namespace ort_ed
