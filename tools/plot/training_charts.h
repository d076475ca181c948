#pragma once

#include <string>
#include <vector>

#include "tools/jobs/train/metrics.h"
#include "tools/picture/charts.h"

namespace ort_ed {

// The values of one metric, from step to step; empty where it was not logged.
LineSeries SeriesOf(const std::vector<MetricsLine>& lines, const std::string& metric, std::string name);

// The likelihood of held-out rows, where it can be relied on, over both phases as one line.
LineSeries LikelihoodSeries(const RunMetrics& metrics);

// The likelihood of held-out rows first, with that of the base in front of that of the network; then losses,
// energies, gradient norm, learning rate and whatever else was logged; then what the base has of its own.
std::vector<LineChart> TrainingCharts(const RunMetrics& metrics);

}  // namespace ort_ed
