#include "tools/jobs/tables/bin_edges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace ort_ed {
namespace {

struct Run {
  double value;
  double count;
};

std::vector<Run> CountRuns(std::span<const double> values) {
  std::vector<Run> runs;
  for (const double value : values) {
    if (runs.empty() || runs.back().value != value) runs.push_back({value, 0});
    ++runs.back().count;
  }
  return runs;
}

double Behind(double value, bool whole) {
  return whole ? value + 1 : std::nextafter(value, std::numeric_limits<double>::infinity());
}

// Runs of at least `heavy` values have a bin each; the others are cut into about `bins` equal parts.
std::vector<double> CutAt(const std::vector<Run>& runs, double heavy, int64_t bins, bool whole) {
  double light = 0;
  for (const Run& run : runs) light += run.count < heavy ? run.count : 0;
  std::vector<double> edges = {runs.front().value};
  const auto cut = [&](double edge) {
    if (edge > edges.back()) edges.push_back(edge);
  };
  double held = 0;
  int64_t next = 1;
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    if (runs[i].count >= heavy) {
      cut(runs[i].value);
      cut(Behind(runs[i].value, whole));
      continue;
    }
    held += runs[i].count;
    if (held * static_cast<double>(bins) < light * static_cast<double>(next)) continue;
    cut(runs[i + 1].value);
    while (held * static_cast<double>(bins) >= light * static_cast<double>(next)) ++next;
  }
  if (runs.back().count >= heavy) cut(runs.back().value);
  cut(Behind(runs.back().value, whole));
  return edges;
}

}  // namespace

std::vector<double> BinEdges(std::span<const double> values, int64_t bins, bool whole) {
  const std::vector<Run> runs = CountRuns(values);
  constexpr double kStep = 1.25;
  for (double heavy = static_cast<double>(values.size()) / static_cast<double>(bins);; heavy *= kStep) {
    const int64_t heavy_runs =
        std::ranges::count_if(runs, [&](const Run& run) { return run.count >= heavy; });
    for (int64_t light_bins = std::max<int64_t>(1, bins - heavy_runs); light_bins > 0; --light_bins) {
      std::vector<double> edges = CutAt(runs, heavy, light_bins, whole);
      if (std::ssize(edges) - 1 <= bins) return edges;
    }
  }
}

}  // namespace ort_ed
