#include "tools/jobs/log_z/weighted_reverse.h"

#include <cmath>
#include <vector>

#include "sampler/log_z/reliability.h"

namespace ort_ed {

LogZEstimate CountByWeight(LogZEstimate estimate, std::span<const double> reverse_log_weights,
                           std::span<const double> start_log_weights) {
  const size_t chains = start_log_weights.size();
  std::vector<double> products(chains);
  for (size_t i = 0; i < chains; ++i) products[i] = start_log_weights[i] - reverse_log_weights[i];
  const WeightSummary product = SummariseLogWeights(products), start = SummariseLogWeights(start_log_weights);
  estimate.log_z = start.log_mean - product.log_mean;
  // A ratio of two means: each chain's residual is what it adds to the one less what it adds to the other.
  double squares = 0;
  for (size_t i = 0; i < chains; ++i) {
    const double residual =
        std::exp(products[i] - product.log_mean) - std::exp(start_log_weights[i] - start.log_mean);
    squares += residual * residual;
  }
  const auto n = static_cast<double>(chains);
  estimate.standard_error = chains > 1 ? std::sqrt(squares / n / (n - 1)) : product.standard_error;
  // Few starts that carry the weight tell as little as few chains.
  const WeightSummary& weaker = product.effective < start.effective ? product : start;
  estimate.effective_samples = weaker.effective;
  if (estimate.warning.empty())
    estimate.warning = WhyUnreliable(weaker, static_cast<int64_t>(chains), "chains",
                                     "take more temperatures, then more chains");
  return estimate;
}

}  // namespace ort_ed
