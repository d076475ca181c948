#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/limits.h"

namespace ort_ed {

// The whole file, which may be a pipe but no device, and has at most `most` bytes. Throws kIo "cannot read
// the <what> '<path>': ...".
std::vector<std::byte> ReadFile(const std::string& path, std::string_view what, size_t most = kMaxModelBytes);

}  // namespace ort_ed
