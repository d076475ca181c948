#include "tools/jobs/train/learning/loss_bounds.h"

#include <cmath>
#include <string>

namespace ort_ed {

std::optional<LossBounds> BoundsOf(const RunSetup& setup, int64_t rows) {
  const Choice& objective = setup.options.objective;
  const BatchShape shape = setup.shape();
  const bool shared = objective.kind == "shared-discrepancy";
  if ((objective.kind != "energy-discrepancy" && !shared) || shape.weighted) return std::nullopt;
  const auto given = objective.options.find("w");
  const double w = given == objective.options.end() ? 1 : std::stod(FormatOption(given->second));
  if (w <= 0) return std::nullopt;
  const auto m = static_cast<double>(shape.negatives * (shared ? rows : 1));
  return LossBounds{.told_nothing = std::log((w + m) / m), .told_all = std::log(w / m)};
}

}  // namespace ort_ed
