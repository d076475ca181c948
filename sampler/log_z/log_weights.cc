#include <algorithm>
#include <cmath>
#include <limits>

#include "ort_ed/error.h"
#include "ort_ed/log_z.h"

namespace ort_ed {

WeightSummary SummariseLogWeights(std::span<const double> log_weights) {
  if (log_weights.empty()) throw Error(ErrorCode::kInvalidArgument, "there are no weights to summarise");
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  const auto n = static_cast<double>(log_weights.size());
  double sum = 0;
  double squares = 0;
  for (double log_weight : log_weights) {
    const double weight = std::exp(log_weight - largest);
    sum += weight;
    squares += weight * weight;
  }
  WeightSummary summary;
  summary.log_mean = largest + std::log(sum / n);
  summary.effective = sum * sum / squares;
  // Var(w) / (n mean(w)^2), with n - 1 in the variance: equals (n / effective - 1) / (n - 1).
  summary.standard_error = log_weights.size() > 1
                               ? std::sqrt(std::max(0.0, n / summary.effective - 1) / (n - 1))
                               : std::numeric_limits<double>::infinity();
  return summary;
}

}  // namespace ort_ed
