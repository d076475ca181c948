#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// The names of what is in `folder`, in no order. Throws kIo naming it. (The iterators of std::filesystem end
// the program where memory is low.)
std::vector<std::string> ListFolder(const std::string& folder);

}  // namespace ort_ed
