#include "tools/plot/compare_picture.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/jobs/train/validation/best_validation.h"
#include "tools/picture/pictures.h"
#include "tools/plot/training_charts.h"

namespace ort_ed {
namespace {

// Without folders, unless that makes two of them equal.
std::vector<std::string> LegendNames(const std::vector<ModelSource>& sources) {
  std::vector<std::string> names;
  for (const ModelSource& source : sources) {
    const std::string name = source.ShortName();
    const bool unique = std::ranges::count(sources, name, &ModelSource::ShortName) == 1;
    names.push_back(unique ? name : source.name);
  }
  return names;
}

// A line for each model that has the metric, each model in its own colour in all charts.
LineChart CurvesOf(const std::vector<ModelSource>& sources, const std::vector<std::string>& names,
                   const std::string& title, const std::function<LineSeries(const RunMetrics&)>& curve) {
  LineChart chart{.title = title, .x_label = "step"};
  chart.names_single_series = true;
  for (size_t i = 0; i < sources.size(); ++i) {
    LineSeries series = curve(sources[i].metrics);
    series.name = names[i];
    series.color = i;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

HistogramChart Differences(const std::vector<std::string>& names, const CompareResult& result) {
  HistogramChart chart{.title = "log p of each row, less that of " + names.front(), .x_label = "nats"};
  chart.names_single_series = true;
  for (size_t i = 1; i < names.size(); ++i)
    chart.series.push_back({names[i], result.models[i].row_differences, i});
  return chart;
}

}  // namespace

Canvas ComparePicture(const std::vector<ModelSource>& sources, const CompareResult& result) {
  const std::vector<std::string> names = LegendNames(sources);
  const auto of_run = [](const char* metric) {
    return [metric](const RunMetrics& metrics) { return SeriesOf(metrics.run, metric, {}); };
  };
  LineChart charts_of_runs[] = {CurvesOf(sources, names, "validation nats per row", LikelihoodSeries),
                                CurvesOf(sources, names, "loss", of_run("loss")),
                                CurvesOf(sources, names, "validation loss", of_run(kValidationLoss))};
  if (std::ranges::any_of(sources, [](const ModelSource& source) { return !source.metrics.base.empty(); }))
    charts_of_runs[0].x_label = "step, counted with those of the base";
  std::vector<Chart> charts;
  for (LineChart& chart : charts_of_runs)
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  charts.push_back(Differences(names, result));
  return ChartPicture(charts, 2);
}

}  // namespace ort_ed
