#include "tools/jobs/train/learned_base/base_likelihood.h"

#include <numeric>

#include "ort_ed/log_z.h"

namespace ort_ed {
namespace {

constexpr int64_t kDraws = 2000;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> BaseEnergies(const BaseDistribution& base, const std::vector<float>& rows) {
  std::vector<double> energies(rows.size() / static_cast<size_t>(base.dimension()));
  base.Energy(rows, energies);
  return energies;
}

}  // namespace

BaseLikelihood::BaseLikelihood(const BaseDistribution& base, const RowTable& rows, bool alone, uint64_t seed)
    : alone_(alone),
      rows_(rows.values.begin(), rows.values.end()),
      draws_(base.DrawRows(seed, 0, kDraws)),
      row_energies_(BaseEnergies(base, rows_)),
      draw_energies_(BaseEnergies(base, draws_)),
      base_nll_(Mean(row_energies_)) {}

std::vector<double> BaseLikelihood::NetEnergies(Learner& learner, const std::vector<float>& rows,
                                                const std::vector<double>& base_energies) const {
  std::vector<float> energies(base_energies.size());
  learner.Energies(rows, energies, /*averaged=*/true);
  std::vector<double> net(energies.begin(), energies.end());
  for (size_t i = 0; !alone_ && i < net.size(); ++i) net[i] -= base_energies[i];
  return net;
}

BaseLikelihood::Estimate BaseLikelihood::Compute(Learner& learner) const {
  std::vector<double> log_weights = NetEnergies(learner, draws_, draw_energies_);
  for (double& log_weight : log_weights) log_weight = -log_weight;
  const WeightSummary summary = SummariseLogWeights(log_weights);
  return {base_nll_ + Mean(NetEnergies(learner, rows_, row_energies_)) + summary.log_mean, summary.effective};
}

}  // namespace ort_ed
