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

bool HasDecimals(std::span<const double> values, int decimals) {
  const double per_one = std::pow(10.0, decimals);
  return std::ranges::all_of(values,
                             [&](double value) { return std::round(value * per_one) / per_one == value; });
}

// Runs of at least `heavy` values have a bin each; the others are cut into about `bins` equal parts.
std::vector<double> CutAt(const std::vector<Run>& runs, double heavy, int64_t bins, const Spacing& spacing) {
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
      cut(spacing.After(runs[i].value));
      continue;
    }
    held += runs[i].count;
    if (held * static_cast<double>(bins) < light * static_cast<double>(next)) continue;
    cut(runs[i + 1].value);
    while (held * static_cast<double>(bins) >= light * static_cast<double>(next)) ++next;
  }
  if (runs.back().count >= heavy) cut(runs.back().value);
  cut(spacing.After(runs.back().value));
  return edges;
}

}  // namespace

Spacing Spacing::Of(std::span<const double> values) {
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals)
    if (HasDecimals(values, decimals)) return Spacing(decimals);
  return Spacing(-1);
}

double Spacing::After(double value) const {
  const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
  if (decimals_ < 0) return next;
  const double per_one = std::pow(10.0, decimals_);
  return std::max(next, (std::round(value * per_one) + 1) / per_one);
}

std::vector<double> BinEdges(std::span<const double> values, int64_t bins, const Spacing& spacing) {
  const std::vector<Run> runs = CountRuns(values);
  constexpr double kStep = 1.25;
  for (double heavy = static_cast<double>(values.size()) / static_cast<double>(bins);; heavy *= kStep) {
    const int64_t heavy_runs =
        std::ranges::count_if(runs, [&](const Run& run) { return run.count >= heavy; });
    for (int64_t light_bins = std::max<int64_t>(1, bins - heavy_runs); light_bins > 0; --light_bins) {
      std::vector<double> edges = CutAt(runs, heavy, light_bins, spacing);
      if (std::ssize(edges) - 1 <= bins) return edges;
    }
  }
}

}  // namespace ort_ed
