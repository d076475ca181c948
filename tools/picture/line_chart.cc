#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/picture/charts.h"

namespace ort_ed {
namespace {

constexpr double kLineWidth = 1.8;
constexpr double kBandOpacity = 0.22;

// What a column of pixels shows of a series.
struct Column {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double sum_x = 0;
  double sum_y = 0;
  int count = 0;
};

bool Drawable(const Frame& frame, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!frame.x.logarithmic || x > 0) &&
         (!frame.y.logarithmic || y > 0);
}

std::vector<Position> DrawDense(Canvas& canvas, const Frame& frame, const LineSeries& series, Color color) {
  constexpr double kPixels = 3;
  std::vector<Column> columns(static_cast<size_t>(frame.area.width / kPixels) + 1);
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!Drawable(frame, series.x[i], series.y[i])) continue;
    const Position p = frame.At(series.x[i], series.y[i]);
    Column& column = columns[static_cast<size_t>(
        std::clamp((p.x - frame.area.left) / kPixels, 0.0, static_cast<double>(columns.size() - 1)))];
    column.low = std::min(column.low, p.y);
    column.high = std::max(column.high, p.y);
    column.sum_x += p.x;
    column.sum_y += p.y;
    ++column.count;
  }
  std::vector<Position> line;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.count == 0) continue;
    canvas.Fill(
        {frame.area.left + static_cast<double>(i) * kPixels, column.low, kPixels, column.high - column.low},
        color, kBandOpacity);
    line.push_back({column.sum_x / column.count, column.sum_y / column.count});
  }
  canvas.Line(line, color, kLineWidth);
  return line;
}

// A single point is no line, and must be seen all the same.
void DrawPiece(Canvas& canvas, const std::vector<Position>& line, Color color) {
  if (line.size() == 1) canvas.Disc(line.front(), 1.5 * kLineWidth, color);
  canvas.Line(line, color, kLineWidth);
}

std::vector<Position> DrawSparse(Canvas& canvas, const Frame& frame, const LineSeries& series, Color color) {
  std::vector<Position> drawn, line;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (Drawable(frame, series.x[i], series.y[i])) {
      line.push_back(frame.At(series.x[i], series.y[i]));
      drawn.push_back(line.back());
      continue;
    }
    DrawPiece(canvas, line, color);
    line.clear();
  }
  DrawPiece(canvas, line, color);
  return drawn;
}

template <typename Get>
std::vector<double> All(const std::vector<LineSeries>& series, Get get) {
  std::vector<double> all;
  for (const LineSeries& one : series) all.insert(all.end(), get(one).begin(), get(one).end());
  return all;
}

}  // namespace

void DrawChart(Canvas& canvas, const Rect& rect, const LineChart& chart) {
  const Axis x = MakeAxis(All(
                              chart.series, [](const LineSeries& s) -> const auto& { return s.x; }),
                          chart.logarithmic_x, chart.x_label);
  const Axis y = MakeAxis(All(
                              chart.series, [](const LineSeries& s) -> const auto& { return s.y; }),
                          chart.logarithmic_y, chart.y_label);
  const Frame frame = FrameWithin(rect, x, y, chart.title);
  DrawGrid(canvas, frame);
  std::vector<LegendEntry> legend;
  std::vector<Position> drawn;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const LineSeries& series = chart.series[i];
    const bool dense = static_cast<double>(series.x.size()) > frame.area.width;
    const Color color = SeriesColor(series.color.value_or(i));
    const auto line = (dense ? DrawDense : DrawSparse)(canvas, frame, series, color);
    drawn.insert(drawn.end(), line.begin(), line.end());
    legend.push_back({series.name, color});
  }
  DrawAxes(canvas, frame, chart.title);
  if (legend.size() > 1 || chart.names_single_series) DrawLegend(canvas, frame, legend, drawn);
}

}  // namespace ort_ed
