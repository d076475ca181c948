#include "tools/picture/pictures.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr int kChartWidth = 600;
constexpr int kChartHeight = 380;
constexpr int kPlaneWidth = 436;
constexpr int kPlaneBarWidth = 500;
constexpr int kPlaneHeight = 430;
constexpr int kMargin = 8;

struct Size {
  int width;
  int height;
};

Size MeasureChart(const Chart& chart) {
  const auto* plane = std::get_if<PlaneChart>(&chart);
  if (plane == nullptr) return {kChartWidth, kChartHeight};
  return {plane->color_bar ? kPlaneBarWidth : kPlaneWidth, kPlaneHeight};
}

PlaneChart MatrixChart(const std::string& title, const std::vector<double>& matrix, int side, double limit) {
  PlaneChart chart{.title = title,
                   .x = {.low = 0, .high = static_cast<double>(side)},
                   .y = {.low = static_cast<double>(side), .high = 0}};
  chart.heat = {.rows = side,
                .columns = side,
                .values = {},
                .low = -limit,
                .high = limit,
                .colors = &ColorMap::Diverging()};
  for (int row = side - 1; row >= 0; --row)
    chart.heat.values.insert(chart.heat.values.end(), matrix.begin() + row * side,
                             matrix.begin() + (row + 1) * side);
  chart.color_bar = true;
  return chart;
}

}  // namespace

Canvas ChartPicture(std::span<const Chart> charts, int columns) {
  Size cell{1, 1};
  for (const Chart& chart : charts) {
    cell.width = std::max(cell.width, MeasureChart(chart).width);
    cell.height = std::max(cell.height, MeasureChart(chart).height);
  }
  const int count = static_cast<int>(charts.size());
  columns = std::clamp(columns, 1, std::max(count, 1));
  const int rows = (count + columns - 1) / columns;
  Canvas canvas(columns * cell.width + 2 * kMargin, std::max(rows, 1) * cell.height + 2 * kMargin);
  for (int i = 0; i < count; ++i) {
    const Rect rect = {static_cast<double>(kMargin + i % columns * cell.width),
                       static_cast<double>(kMargin + i / columns * cell.height),
                       static_cast<double>(cell.width), static_cast<double>(cell.height)};
    std::visit([&](const auto& chart) { DrawChart(canvas, rect, chart); }, charts[static_cast<size_t>(i)]);
  }
  return canvas;
}

Canvas SampleGridPicture(std::span<const uint8_t> rows, int height, int width) {
  constexpr double kPictureWidth = 900;
  constexpr int kGap = 2;
  if (height < 1 || width < 1)
    throw Error(ErrorCode::kInvalidArgument, "an image needs a height and a width of at least 1");
  const size_t pixels = static_cast<size_t>(height) * static_cast<size_t>(width);
  const auto count = static_cast<int>(rows.size() / pixels);
  const int columns =
      std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count) * height / width))));
  const int lines = (count + columns - 1) / columns;
  const int scale = std::clamp(static_cast<int>(kPictureWidth / columns / width), 1, 12);
  Canvas canvas(columns * (width * scale + kGap) + kGap, std::max(lines, 1) * (height * scale + kGap) + kGap,
                kGridLine);
  for (int i = 0; i < count; ++i) {
    const int left = kGap + i % columns * (width * scale + kGap),
              top = kGap + i / columns * (height * scale + kGap);
    for (int y = 0; y < height * scale; ++y)
      for (int x = 0; x < width * scale; ++x)
        canvas.SetPixel(
            left + x, top + y,
            rows[static_cast<size_t>(i) * pixels + static_cast<size_t>(y / scale * width + x / scale)]
                ? kInk
                : kWhite);
  }
  return canvas;
}

Canvas CouplingsPicture(const std::vector<double>& couplings, const std::vector<double>& truth, int side) {
  double limit = 0;
  for (const auto* matrix : {&couplings, &truth})
    for (const double value : *matrix) limit = std::max(limit, std::abs(value));
  if (limit == 0) limit = 1;
  std::vector<Chart> charts = {MatrixChart("learned couplings", couplings, side, limit)};
  if (!truth.empty()) charts.push_back(MatrixChart("true couplings", truth, side, limit));
  return ChartPicture(charts, 2);
}

double Quantile(std::vector<double> values, double fraction) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace ort_ed
