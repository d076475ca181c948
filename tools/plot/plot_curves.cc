#include "tools/plot/plot_curves.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/picture/pictures.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

// Metrics that belong into one chart. Others get a chart each.
struct ChartGroup {
  std::string title;
  std::vector<std::string> metrics;
  bool logarithmic;
};

const std::vector<ChartGroup>& Groups() {
  static const std::vector<ChartGroup> groups = {
      {"loss", {"loss", "validation_loss"}, false},
      {"validation nats per row", {"validation_nll", "validation_nll_rough"}, false},
      {"mean energy", {"energy_positive", "energy_negative"}, false},
      {"gradient norm", {"gradient_norm"}, true},
      {"learning rate", {"learning_rate"}, false},
  };
  return groups;
}

std::string Words(std::string metric) {
  std::replace(metric.begin(), metric.end(), '_', ' ');
  return metric;
}

LineSeries MakeSeries(const std::vector<MetricsLine>& lines, const std::string& metric) {
  LineSeries series{.name = Words(metric), .x = {}, .y = {}};
  for (const MetricsLine& line : lines) {
    for (const auto& [name, value] : line.values) {
      if (name != metric) continue;
      series.x.push_back(static_cast<double>(line.step));
      series.y.push_back(value);
    }
  }
  return series;
}

std::vector<std::string> OtherMetrics(const std::vector<MetricsLine>& lines) {
  std::vector<std::string> known, others;
  for (const ChartGroup& group : Groups())
    known.insert(known.end(), group.metrics.begin(), group.metrics.end());
  for (const MetricsLine& line : lines) {
    for (const auto& [name, value] : line.values) {
      if (std::ranges::find(known, name) != known.end()) continue;
      known.push_back(name);
      others.push_back(name);
    }
  }
  return others;
}

struct CurvesOptions {
  static void Describe(Declare<CurvesOptions>&) {}
};

Canvas DrawCurves(const std::string& input, const CurvesOptions&, const LoadOptions&, Observer&) {
  std::filesystem::path path = input;
  if (std::filesystem::is_directory(path)) path /= MetricsLog::FileName();
  if (!std::filesystem::exists(path))
    throw Error(ErrorCode::kIo, fmt::format("'{}' does not exist; name the folder of a run", path.string()));
  const std::vector<MetricsLine> lines = ReadMetrics(path);
  if (lines.empty())
    throw Error(ErrorCode::kBadData, fmt::format("'{}' holds no metrics yet", path.string()));
  return TrainingCurvesPicture(lines);
}

}  // namespace

Canvas TrainingCurvesPicture(const std::vector<MetricsLine>& lines) {
  std::vector<ChartGroup> groups = Groups();
  for (const std::string& metric : OtherMetrics(lines)) groups.push_back({Words(metric), {metric}, false});
  std::vector<Chart> charts;
  for (const ChartGroup& group : groups) {
    LineChart chart{.title = group.title,
                    .x_label = "step",
                    .y_label = {},
                    .series = {},
                    .logarithmic_x = false,
                    .logarithmic_y = group.logarithmic};
    for (const std::string& metric : group.metrics) {
      LineSeries series = MakeSeries(lines, metric);
      if (!series.x.empty()) chart.series.push_back(std::move(series));
    }
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  return ChartPicture(charts, 2);
}

const PlotKind kCurvesPlot = MakePlotKind<CurvesOptions, DrawCurves>(
    "curves", "the metrics of a training: RUN_FOLDER or metrics.jsonl", false);

}  // namespace ort_ed
