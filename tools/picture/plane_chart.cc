#include <algorithm>
#include <cmath>

#include "tools/picture/charts.h"

namespace ort_ed {
namespace {

constexpr double kBarRoom = 64;
constexpr double kBarWidth = 12;
constexpr double kBarGap = 12;

void DrawHeat(Canvas& canvas, const Rect& area, const HeatMap& heat) {
  const int left = static_cast<int>(area.left), top = static_cast<int>(area.top);
  const int width = static_cast<int>(area.width), height = static_cast<int>(area.height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int column = static_cast<int>((x + 0.5) / width * heat.columns);
      const int row = heat.rows - 1 - static_cast<int>((y + 0.5) / height * heat.rows);
      const double value = heat.values[static_cast<size_t>(row) * static_cast<size_t>(heat.columns) +
                                       static_cast<size_t>(column)];
      canvas.SetPixel(left + x, top + y, heat.colors->At((value - heat.low) / (heat.high - heat.low)));
    }
  }
}

void DrawPoints(Canvas& canvas, const Frame& frame, const std::vector<Position>& points) {
  // Few points are drawn large and solid, many small and faint, so that the density shows either way.
  const auto count = static_cast<double>(std::max<size_t>(points.size(), 1));
  const double opacity = std::clamp(std::sqrt(2000 / count), 0.15, 0.85);
  const double radius = std::clamp(std::sqrt(8000 / count), 0.8, 2.2);
  for (const Position& point : points) {
    const Position at = frame.At(point.x, point.y);
    if (at.x < frame.area.left || at.x > frame.area.right() || at.y < frame.area.top ||
        at.y > frame.area.bottom())
      continue;
    canvas.Disc(at, radius, SeriesColor(0), opacity);
  }
}

void DrawColorBar(Canvas& canvas, const Rect& bar, const HeatMap& heat) {
  for (int y = 0; y < static_cast<int>(bar.height); ++y)
    canvas.Fill({bar.left, bar.top + y, bar.width, 1}, heat.colors->At(1 - (y + 0.5) / bar.height));
  canvas.Outline({bar.left - 1, bar.top - 1, bar.width + 2, bar.height + 2}, kFaintInk);
  const Axis axis = {.low = heat.low, .high = heat.high};
  for (const Tick& tick : Ticks(axis, 5)) {
    const double y = std::floor(bar.bottom() - axis.Fraction(tick.value) * bar.height);
    canvas.Fill({bar.right() + 1, y, 3, 1}, kFaintInk);
    canvas.Text({bar.right() + 8, y + 0.5 + kTickText / 2}, tick.label,
                {.size = kTickText, .color = kFaintInk});
  }
}

}  // namespace

void DrawChart(Canvas& canvas, const Rect& rect, const PlaneChart& chart) {
  Frame frame =
      FrameWithin(rect.Inset(0, 0, chart.color_bar ? kBarRoom : 0, 0), chart.x, chart.y, chart.title);
  const double side = std::floor(std::min(frame.area.width, frame.area.height));
  frame.area = {std::round(frame.area.left), std::round(frame.area.top), side, side};
  if (chart.heat.values.empty()) {
    DrawGrid(canvas, frame);
  } else {
    DrawHeat(canvas, frame.area, chart.heat);
  }
  DrawPoints(canvas, frame, chart.points);
  DrawAxes(canvas, frame, chart.title);
  if (chart.color_bar)
    DrawColorBar(canvas, {frame.area.right() + kBarGap, frame.area.top, kBarWidth, frame.area.height},
                 chart.heat);
}

}  // namespace ort_ed
