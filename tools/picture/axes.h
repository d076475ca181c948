#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/picture/canvas.h"

namespace ort_ed {

inline constexpr double kTickText = 8;
inline constexpr double kLabelText = 9;
inline constexpr double kTitleText = 11;

struct Axis {
  double low = 0;  // may be above high: the axis then runs backwards
  double high = 1;
  bool logarithmic = false;  // then both ends are positive
  std::string label = {};

  double Fraction(double value) const;  // 0 at low, 1 at high
};

struct Tick {
  double value;
  std::string label;
};

// About `wanted` round numbers of the axis: 1, 2 or 5 times a power of ten; powers of ten if logarithmic and
// long.
std::vector<Tick> Ticks(const Axis& axis, int wanted);

// The axis that holds all finite values (positive ones if logarithmic), with a little room at both ends.
Axis MakeAxis(const std::vector<double>& values, bool logarithmic, const std::string& label);

// The place of a chart's data on the canvas, with y up.
struct Frame {
  Rect area;
  Axis x;
  Axis y;

  Position At(double data_x, double data_y) const {
    return {area.left + x.Fraction(data_x) * area.width, area.bottom() - y.Fraction(data_y) * area.height};
  }
};

// What remains of `outer` for the data when title, ticks and labels have their room.
Frame FrameWithin(const Rect& outer, const Axis& x, const Axis& y, const std::string& title);
void DrawGrid(Canvas& canvas, const Frame& frame);                            // below the data
void DrawAxes(Canvas& canvas, const Frame& frame, const std::string& title);  // above it

struct LegendEntry {
  std::string name;
  Color color;
};
// In the corner where it hides the fewest of the points.
void DrawLegend(Canvas& canvas, const Frame& frame, const std::vector<LegendEntry>& entries,
                std::span<const Position> points);

}  // namespace ort_ed
