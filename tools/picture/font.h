#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/canvas.h"

namespace ort_ed {

// A glyph as pen strokes, so that text is smooth at every size and angle. Units: capitals are kCapitalHeight
// high; y is up from the baseline. A stroke of one point is a dot.
struct Glyph {
  double width = 0;
  std::vector<std::vector<Position>> strokes;
};

inline constexpr double kCapitalHeight = 9;
inline constexpr double kGlyphGap = 2.6;  // between two glyphs

// Of a code point; those that are not known, such as of other scripts, have a box.
const Glyph& FindGlyph(char32_t character);

// The code points of a text in UTF-8; a byte that is none is U+FFFD.
std::u32string CodePoints(std::string_view text);

}  // namespace ort_ed
