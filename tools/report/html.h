#pragma once

#include <string>
#include <string_view>

#include "tools/picture/canvas.h"

namespace ort_ed {

// Text as it may stand between tags and in quoted attributes. Control characters become spaces.
std::string Escape(std::string_view text);

// A picture inside the page.
std::string Image(const Canvas& canvas, const std::string& description);

// A number for people: 4 significant digits.
std::string Number(double value);

}  // namespace ort_ed
