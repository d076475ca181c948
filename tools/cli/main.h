#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// The whole command: `words` are what stands behind the program's name. Returns the exit code.
int Main(const std::vector<std::string>& words);

}  // namespace ort_ed
