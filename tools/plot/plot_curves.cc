#include "tools/plot/plot_curves.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/picture/pictures.h"
#include "tools/plot/plot_kind.h"
#include "tools/plot/training_charts.h"

namespace ort_ed {
namespace {

RunMetrics ReadFolderOrFile(const std::string& path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::string file = is_folder ? path + "/" + MetricsLog::FileName() : path;
  const RunMetrics metrics = is_folder ? ReadRunMetrics(path) : RunMetrics{.run = ReadMetrics(path)};
  if (!metrics.run.empty() || !metrics.base.empty()) return metrics;
  if (!std::filesystem::exists(file))
    throw Error(ErrorCode::kIo, fmt::format("'{}' does not exist; name the folder of a run", file));
  throw Error(ErrorCode::kBadData, fmt::format("'{}' holds no metrics yet", file));
}

struct CurvesOptions {
  static void Describe(Declare<CurvesOptions>&) {}
};

Canvas DrawCurves(const std::string& input, const CurvesOptions&, const LoadOptions&, Observer&) {
  return TrainingCurvesPicture(ReadFolderOrFile(input));
}

}  // namespace

Canvas TrainingCurvesPicture(const RunMetrics& metrics) {
  std::vector<Chart> charts;
  for (LineChart& chart : TrainingCharts(metrics)) charts.push_back(std::move(chart));
  return ChartPicture(charts, 2);
}

const PlotKind kCurvesPlot = MakePlotKind<CurvesOptions, DrawCurves>(
    "curves", "the metrics of a training: RUN_FOLDER or metrics.jsonl", false);

}  // namespace ort_ed
