#include "tools/jobs/train/validation/held_out_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "models/base/base_distribution.h"
#include "ort_ed/log_z.h"
#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

constexpr int64_t kMostStates = int64_t{1} << 14;
constexpr int64_t kDraws = 2000;
constexpr size_t kAtOnce = 128;      // energies: a large network shall not need more memory than its steps do
constexpr double kSmoothing = 0.01;  // of the means of independent variables

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<float> AllStates(const Variables& variables, int64_t count) {
  const int64_t width = variables.dimension();
  std::vector<float> states(static_cast<size_t>(count * width));
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n;
    for (int64_t v = 0; v < variables.size(); ++v) {
      variables.SetState(states.data() + n * width, v, rest % variables.states(v));
      rest /= variables.states(v);
    }
  }
  return states;
}

std::vector<double> BaseEnergies(const BaseDistribution& base, const std::vector<float>& rows) {
  std::vector<double> energies(rows.size() / static_cast<size_t>(base.dimension()));
  base.Energy(rows, energies);
  return energies;
}

}  // namespace

HeldOutLikelihood::HeldOutLikelihood(const Rows& rows)
    : rows_(rows.held_out.values.begin(), rows.held_out.values.end()) {
  // Where there is no other base: variables that know nothing of one another.
  const ProductBase independent(SmoothedMean(rows.mean, kSmoothing, rows.variables), rows.variables);
  const BaseDistribution& base = rows.base != nullptr ? *rows.base : independent;
  const auto energies = [&](const std::vector<float>& states) { return BaseEnergies(base, states); };
  const int64_t count = CountStates(rows.variables).value_or(kMostStates + 1);
  exact_ = count <= kMostStates;
  if (exact_) {
    states_ = AllStates(rows.variables, count);
    log_weights_.assign(static_cast<size_t>(count), std::log(static_cast<double>(count)));
  } else {
    states_ = base.DrawRows(rows.seed, 0, kDraws);
    log_weights_ = energies(states_);
  }
  const std::vector<double> row_energies = energies(rows_);
  base_nll_ = Mean(row_energies);
  if (!rows.alone) return;
  below_rows_ = row_energies;
  below_states_ = energies(states_);
}

std::vector<double> HeldOutLikelihood::Energies(Learner& learner, const std::vector<float>& states,
                                                const std::vector<double>& below,
                                                Collective& processes) const {
  std::vector<float> own(states.size() / static_cast<size_t>(learner.dimension()));
  const auto width = static_cast<size_t>(learner.dimension());
  const Share share = ShareOf(processes.rank(), processes.size(), std::ssize(own), kAtOnce);
  const auto end = static_cast<size_t>(share.first + share.count);
  for (auto first = static_cast<size_t>(share.first); first < end; first += kAtOnce) {
    const size_t count = std::min(kAtOnce, end - first);
    learner.Energies(std::span(states).subspan(first * width, count * width),
                     std::span(own).subspan(first, count), /*averaged=*/true);
  }
  GatherShares(processes, std::span(own), kAtOnce);
  std::vector<double> energies(own.begin(), own.end());
  for (size_t i = 0; i < below.size(); ++i) energies[i] += below[i];
  return energies;
}

LikelihoodEstimate HeldOutLikelihood::Compute(Learner& learner, Collective& processes) {
  std::vector<double> log_weights = Energies(learner, states_, below_states_, processes);
  for (size_t i = 0; i < log_weights.size(); ++i) log_weights[i] = log_weights_[i] - log_weights[i];
  const WeightSummary summary = SummariseLogWeights(log_weights);
  LikelihoodEstimate estimate{.nll =
                                  Mean(Energies(learner, rows_, below_rows_, processes)) + summary.log_mean};
  if (!exact_) estimate.effective = summary.effective;
  last_log_weights_.clear();
  if (std::isfinite(estimate.nll) && estimate.tells_something()) last_log_weights_ = std::move(log_weights);
  return estimate;
}

std::vector<float> HeldOutLikelihood::Samples(int64_t count) const {
  if (last_log_weights_.empty()) return {};
  const double largest = *std::ranges::max_element(last_log_weights_);
  std::vector<double> sums;
  for (const double weight : last_log_weights_)
    sums.push_back((sums.empty() ? 0 : sums.back()) + std::exp(weight - largest));
  const size_t width = states_.size() / sums.size();
  std::vector<float> samples;
  for (int64_t i = 0; i < count; ++i) {  // at even distances: no randomness is needed
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(count) * sums.back();
    const auto state =
        static_cast<size_t>(std::upper_bound(sums.begin(), sums.end() - 1, place) - sums.begin());
    const auto first = states_.begin() + static_cast<std::ptrdiff_t>(state * width);
    samples.insert(samples.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return samples;
}

}  // namespace ort_ed
