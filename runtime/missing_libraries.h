#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// The shared libraries that the one at `path` asks for and that cannot be loaded here, all of them: the
// system's loader names only the first. Empty where the file is no shared library.
std::vector<std::string> MissingLibraries(const std::string& path);

// Whether a library of this name can be loaded, from the folder of the one at `path` or the system's.
bool CanLoad(const std::string& name, const std::string& path);

}  // namespace ort_ed
