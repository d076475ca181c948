#include <algorithm>
#include <cmath>

#include "tools/picture/charts.h"

namespace ort_ed {
namespace {

struct Bins {
  double low;
  double width;
  std::vector<double> density;
};

Bins Count(const std::vector<double>& values, const Axis& range, int bins) {
  Bins result{range.low, (range.high - range.low) / bins, std::vector<double>(static_cast<size_t>(bins))};
  const auto finite = static_cast<double>(
      std::count_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double bin = std::clamp((value - result.low) / result.width, 0.0, bins - 1.0);
    result.density[static_cast<size_t>(bin)] += 1 / (finite * result.width);
  }
  return result;
}

// Edges are moved to whole pixels, so that neighbouring bars neither overlap nor leave a gap.
std::vector<Position> DrawBins(Canvas& canvas, const Frame& frame, const Bins& bins, Color color) {
  std::vector<Position> outline = {frame.At(bins.low, 0)};
  for (size_t i = 0; i < bins.density.size(); ++i) {
    const double start = bins.low + bins.width * static_cast<double>(i);
    const double left = std::round(frame.At(start, 0).x),
                 right = std::round(frame.At(start + bins.width, 0).x);
    const double top = frame.At(start, bins.density[i]).y;
    canvas.Fill({left, top, right - left, frame.area.bottom() - top}, color, 0.28);
    outline.push_back({left, top});
    outline.push_back({right, top});
  }
  outline.push_back({outline.back().x, frame.area.bottom()});
  canvas.Line(outline, color, 1.5);
  return outline;
}

}  // namespace

void DrawChart(Canvas& canvas, const Rect& rect, const HistogramChart& chart) {
  std::vector<double> all;
  for (const HistogramSeries& series : chart.series)
    all.insert(all.end(), series.values.begin(), series.values.end());
  const Axis x = MakeAxis(all, false, chart.x_label);
  std::vector<Bins> bins;
  double highest = 0;
  for (const HistogramSeries& series : chart.series) {
    bins.push_back(Count(series.values, x, chart.bins));
    highest = std::max(highest, *std::max_element(bins.back().density.begin(), bins.back().density.end()));
  }
  const Axis y = {
      .low = 0, .high = highest > 0 ? 1.06 * highest : 1, .logarithmic = false, .label = "density"};
  const Frame frame = FrameWithin(rect, x, y, chart.title);
  DrawGrid(canvas, frame);
  std::vector<LegendEntry> legend;
  std::vector<Position> drawn;
  for (size_t i = 0; i < bins.size(); ++i) {
    const Color color = SeriesColor(chart.series[i].color.value_or(i));
    const auto outline = DrawBins(canvas, frame, bins[i], color);
    drawn.insert(drawn.end(), outline.begin(), outline.end());
    legend.push_back({chart.series[i].name, color});
  }
  DrawAxes(canvas, frame, chart.title);
  if (legend.size() > 1 || chart.names_single_series) DrawLegend(canvas, frame, legend, drawn);
}

}  // namespace ort_ed
