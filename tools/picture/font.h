#pragma once

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

const Glyph& FindGlyph(char character);

}  // namespace ort_ed
