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

// The same of a file that was found in a folder or is named by another file: no pipe, which might never end.
std::vector<std::byte> ReadRegularFile(const std::string& path, std::string_view what,
                                       size_t most = kMaxModelBytes);

// Throws kIo as ReadRegularFile() does where that is no file with bytes of its own. Nothing is opened.
void RequireRegularFile(const std::string& path, std::string_view what);

}  // namespace ort_ed
