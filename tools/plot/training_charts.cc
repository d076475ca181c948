#include "tools/plot/training_charts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/jobs/train/validation/best_validation.h"

namespace ort_ed {
namespace {

// Metrics that belong into one chart. Others get a chart each.
struct ChartGroup {
  std::string title;
  std::vector<std::string> metrics;
  bool logarithmic;
};

const ChartGroup kLoss = {"loss", {"loss", kValidationLoss}, false};
const ChartGroup kEnergy = {"mean energy", {"energy_positive", "energy_negative"}, false};
const ChartGroup kGradient = {"gradient norm", {"gradient_norm"}, true};
const ChartGroup kLearningRate = {"learning rate", {"learning_rate"}, false};

std::string Words(std::string metric) {
  std::ranges::replace(metric, '_', ' ');
  return metric;
}

void Add(LineSeries series, LineChart& chart) {
  if (!series.x.empty()) chart.series.push_back(std::move(series));
}

LineSeries Later(LineSeries series, int64_t steps) {
  for (double& x : series.x) x += static_cast<double>(steps);
  return series;
}

LineChart ChartOf(const std::vector<MetricsLine>& lines, const ChartGroup& group, const std::string& title) {
  LineChart chart{.title = title, .x_label = "step"};
  chart.logarithmic_y = group.logarithmic;
  for (const std::string& metric : group.metrics) Add(SeriesOf(lines, metric, Words(metric)), chart);
  return chart;
}

LineChart LikelihoodChart(const RunMetrics& metrics) {
  const int64_t base_steps = LastStep(metrics.base);
  LineChart chart{.title = "validation nats per row",
                  .x_label = base_steps == 0
                                 ? "step"
                                 : fmt::format("step; those of the base, {}, come first", base_steps)};
  Add(SeriesOf(metrics.base, kValidationNll, "the base"), chart);
  const std::string name = base_steps == 0 ? Words(kValidationNll) : "with the network";
  Add(Later(SeriesOf(metrics.run, kValidationNll, name), base_steps), chart);
  Add(Later(SeriesOf(metrics.run, kRoughValidationNll, name + ", rough"), base_steps), chart);
  return chart;
}

std::vector<std::string> OtherMetrics(const std::vector<MetricsLine>& lines) {
  std::vector<std::string> known = {kValidationNll, kRoughValidationNll}, others;
  for (const ChartGroup& group : {kLoss, kEnergy, kGradient, kLearningRate})
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

}  // namespace

LineSeries SeriesOf(const std::vector<MetricsLine>& lines, const std::string& metric, std::string name) {
  LineSeries series{.name = std::move(name), .x = {}, .y = {}};
  for (const MetricsLine& line : lines) {
    for (const auto& [logged, value] : line.values) {
      if (logged != metric) continue;
      series.x.push_back(static_cast<double>(line.step));
      series.y.push_back(value);
    }
  }
  return series;
}

LineSeries LikelihoodSeries(const RunMetrics& metrics) {
  LineSeries series = SeriesOf(metrics.base, kValidationNll, {});
  const LineSeries run = Later(SeriesOf(metrics.run, kValidationNll, {}), LastStep(metrics.base));
  series.x.insert(series.x.end(), run.x.begin(), run.x.end());
  series.y.insert(series.y.end(), run.y.begin(), run.y.end());
  return series;
}

std::vector<LineChart> TrainingCharts(const RunMetrics& metrics) {
  std::vector<LineChart> charts = {LikelihoodChart(metrics)};
  for (const ChartGroup& group : {kLoss, kEnergy, kGradient, kLearningRate})
    charts.push_back(ChartOf(metrics.run, group, group.title));
  for (const std::string& metric : OtherMetrics(metrics.run))
    charts.push_back(ChartOf(metrics.run, {{}, {metric}, false}, Words(metric)));
  for (const ChartGroup& group : {kLoss, kGradient, kLearningRate})
    charts.push_back(ChartOf(metrics.base, group, "the base: " + group.title));
  std::erase_if(charts, [](const LineChart& chart) { return chart.series.empty(); });
  return charts;
}

}  // namespace ort_ed
