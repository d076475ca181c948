#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/picture/axes.h"
#include "tools/picture/color_map.h"

namespace ort_ed {

struct LineSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;             // gaps where not finite
  std::optional<size_t> color = {};  // its number among those of series; nothing: by its place
};

struct LineChart {
  std::string title;
  std::string x_label = {};
  std::string y_label = {};
  std::vector<LineSeries> series = {};
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  bool names_single_series = false;  // the legend is left out of one that goes without saying
};
// Long series are thinned to what the pixels can show: the mean as a line over a band from lowest to highest.
void DrawChart(Canvas& canvas, const Rect& rect, const LineChart& chart);

struct HistogramSeries {
  std::string name;
  std::vector<double> values;
  std::optional<size_t> color = {};
};

// Histograms of several series over each other, each of area 1, with the same bins.
struct HistogramChart {
  std::string title;
  std::string x_label = {};
  std::vector<HistogramSeries> series = {};
  int bins = 60;
  bool names_single_series = false;
};
void DrawChart(Canvas& canvas, const Rect& rect, const HistogramChart& chart);

// Colours a grid of values; row 0 is at the bottom, as y is up.
struct HeatMap {
  int rows = 0;
  int columns = 0;
  std::vector<double> values = {};
  double low = 0;
  double high = 1;
  const ColorMap* colors = &ColorMap::Sequential();
};

// A piece of the plane, drawn as a square: a heat map over it, points in it, or both.
struct PlaneChart {
  std::string title;
  Axis x;
  Axis y;
  HeatMap heat = {};
  std::vector<Position> points = {};
  bool color_bar = false;  // to the right
};
void DrawChart(Canvas& canvas, const Rect& rect, const PlaneChart& chart);

}  // namespace ort_ed
