#pragma once

#include <cstddef>
#include <vector>

#include "tools/picture/canvas.h"

namespace ort_ed {

// Colours for the numbers from 0 to 1, interpolated in OKLab (Ottosson 2020), where equal steps look equal.
class ColorMap {
 public:
  // A colour as people see it: lightness 0 to 1, strength 0 to about 0.3, hue in degrees.
  struct Tone {
    double lightness;
    double chroma;
    double hue;
  };

  explicit ColorMap(std::vector<Tone> evenly_spaced);
  Color At(double value) const;  // values outside [0, 1] get the colours of the ends; NaN grey

  static const ColorMap& Sequential();  // dark violet to light yellow, lightness rising evenly
  static const ColorMap& Reversed();    // the same from light to dark
  static const ColorMap& Diverging();   // blue, white at 0.5, red

 private:
  struct Lab {
    double lightness;
    double a;
    double b;
  };
  std::vector<Lab> points_;
};

// Colours that tell series apart, for any number of them.
Color SeriesColor(size_t index);

}  // namespace ort_ed
