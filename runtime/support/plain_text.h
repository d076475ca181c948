#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ort_ed {

// Text as a terminal may show it: names out of files may hold what moves the cursor or renames the window.
// Control characters but the end of a line and the tabulator become '?'.
void MakePlain(std::span<char> text);
std::string Plain(std::string_view text);

}  // namespace ort_ed
