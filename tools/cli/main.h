#pragma once

#include <span>

namespace ort_ed {

// The whole command: `words` are what stands behind the program's name. Returns the exit code.
int Main(std::span<char* const> words);

}  // namespace ort_ed
