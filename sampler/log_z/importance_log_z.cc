#include <algorithm>

#include "ort_ed/error.h"
#include "ort_ed/log_z.h"
#include "sampler/log_z/reliability.h"

namespace ort_ed {

LogZEstimate ImportanceLogZ(const EnergyPath& target, int64_t proposals, uint64_t seed,
                            const WorkCallback& on_progress) {
  constexpr int64_t kBlock = 8192;
  if (proposals < 2)
    throw Error(ErrorCode::kInvalidArgument, "importance sampling takes at least two proposals");
  const int64_t dimension = target.dimension();
  std::vector<double> log_weights(proposals);
  std::vector<float> rows;
  std::vector<double> base_energies;
  for (int64_t begin = 0; begin < proposals; begin += kBlock) {
    const int64_t count = std::min(kBlock, proposals - begin);
    rows.resize(count * dimension);
    target.base->Draw(seed, begin, rows);
    const std::span weights(log_weights.data() + begin, count);
    target.energy->Energy(rows, weights);
    base_energies.resize(count);
    target.base->Energy(rows, base_energies);
    for (int64_t i = 0; i < count; ++i) weights[i] = base_energies[i] - weights[i];
    if (on_progress) on_progress(begin + count, proposals);
  }
  const WeightSummary summary = SummariseLogWeights(log_weights);
  LogZEstimate estimate;
  estimate.method = "importance sampling, " + std::to_string(proposals) + " proposals";
  estimate.log_z = summary.log_mean;
  estimate.standard_error = summary.standard_error;
  estimate.samples = proposals;
  estimate.effective_samples = summary.effective;
  estimate.warning = WhyUnreliable(summary, proposals, "proposals", "take more proposals or use ais");
  return estimate;
}

}  // namespace ort_ed
