#pragma once

#include <string>
#include <vector>

#include "tools/picture/charts.h"

namespace ort_ed {

// Charts as inline SVG in the colours of the page. Marks carry what they say as `data-tip`, which the page's
// script shows, and series can be hidden by their legend.
std::string LineSvg(const LineChart& chart);
std::string HistogramSvg(const HistogramChart& chart);

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string tip;
};
// On equal axes, with the diagonal where both agree.
struct ScatterChart {
  std::string title;
  std::string x_label, y_label;
  double low = 0, high = 1;
  std::vector<ScatterPoint> points;
  std::string note;  // below it
};
std::string ScatterSvg(const ScatterChart& chart);

}  // namespace ort_ed
