#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// The whole file, which may be a pipe. Throws kIo "cannot read the <what> '<path>': ...".
std::vector<std::byte> ReadFile(const std::string& path, std::string_view what);

}  // namespace ort_ed
