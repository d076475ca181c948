#include "tools/plot/compare_picture.h"

#include "tools/jobs/train/validation/best_validation.h"
#include "tools/picture/pictures.h"

namespace ort_ed {
namespace {

LineChart CurvesOf(const std::vector<ModelSource>& sources, const std::string& metric,
                   const std::string& title) {
  LineChart chart{.title = title, .x_label = "step"};
  for (const ModelSource& source : sources) {
    LineSeries series{.name = source.ShortName(), .x = {}, .y = {}};
    for (const MetricsLine& line : source.metrics) {
      for (const auto& [name, value] : line.values) {
        if (name != metric) continue;
        series.x.push_back(static_cast<double>(line.step));
        series.y.push_back(value);
      }
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

Canvas ComparePicture(const std::vector<ModelSource>& sources, const CompareResult& result) {
  std::vector<Chart> charts;
  for (const auto& [metric, title] :
       {std::pair("loss", "loss"), std::pair(kValidationLoss, "validation loss"),
        std::pair(kValidationNll, "validation nats per row")})
    if (LineChart chart = CurvesOf(sources, metric, title); !chart.series.empty())
      charts.push_back(std::move(chart));
  HistogramChart differences{.title = "log p of each row, less that of " + sources.front().ShortName(),
                             .x_label = "nats"};
  for (size_t i = 1; i < sources.size(); ++i)
    differences.series.push_back({sources[i].ShortName(), result.models[i].row_differences});
  charts.push_back(std::move(differences));
  return ChartPicture(charts, 2);
}

}  // namespace ort_ed
