#include "ort_ed/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sampler/hamming.h"

namespace ort_ed {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The halves of all chains, centred; a middle draw of an odd number is left out.
class SplitChains {
 public:
  SplitChains(std::span<const double> trace, int64_t chains)
      : count_(2 * chains), length_(chains > 0 ? std::ssize(trace) / chains / 2 : 0), means_(count_) {
    if (length_ < 2) return;
    const int64_t whole = std::ssize(trace) / chains;
    for (int64_t half = 0; half < count_; ++half) {
      const double* begin = trace.data() + half / 2 * whole + (half % 2 == 0 ? 0 : whole - length_);
      means_[half] = std::accumulate(begin, begin + length_, 0.0) / static_cast<double>(length_);
      for (int64_t t = 0; t < length_; ++t) centred_.push_back(begin[t] - means_[half]);
    }
    within_ = Autocovariance(0) * static_cast<double>(length_) / static_cast<double>(length_ - 1);
    const double mean = std::accumulate(means_.begin(), means_.end(), 0.0) / static_cast<double>(count_);
    for (const double m : means_) between_ += (m - mean) * (m - mean) / static_cast<double>(count_ - 1);
  }

  int64_t length() const { return length_; }
  int64_t count() const { return count_; }
  double within() const { return within_; }  // mean variance of a half
  // Overestimates the variance of the quantity until the chains have mixed.
  double Variance() const {
    return within_ * static_cast<double>(length_ - 1) / static_cast<double>(length_) + between_;
  }

  // Mean over the halves.
  double Autocovariance(int64_t lag) const {
    double sum = 0;
    for (int64_t half = 0; half < count_; ++half) {
      const double* x = centred_.data() + half * length_;
      sum += std::inner_product(x, x + length_ - lag, x + lag, 0.0);
    }
    return sum / static_cast<double>(count_ * length_);
  }

 private:
  int64_t count_;
  int64_t length_;
  std::vector<double> means_;
  std::vector<double> centred_;
  double within_ = 0;
  double between_ = 0;
};

}  // namespace

double EffectiveSampleSize(std::span<const double> trace, int64_t chains) {
  const SplitChains split(trace, chains);
  if (split.length() < 2 || !(split.Variance() > 0)) return kUnknown;
  const auto correlation = [&](int64_t lag) {
    return 1 - (split.within() - split.Autocovariance(lag)) / split.Variance();
  };
  double sum = 0;  // over pairs of lags (0, 1), (2, 3), ...
  double smallest = std::numeric_limits<double>::infinity();
  for (int64_t lag = 0; lag + 1 < split.length(); lag += 2) {
    const double pair = (lag == 0 ? 1 : correlation(lag)) + correlation(lag + 1);
    if (!(pair > 0)) break;
    smallest = std::min(smallest, pair);
    sum += smallest;
  }
  const double draws = static_cast<double>(split.count() * split.length());
  // Antithetic chains may be worth more than their draws, but not by any factor.
  const double time = std::max(2 * sum - 1, 1 / std::log10(draws));
  return draws / time;
}

double SplitRHat(std::span<const double> trace, int64_t chains) {
  const SplitChains split(trace, chains);
  if (split.length() < 2 || !(split.Variance() > 0)) return kUnknown;
  return std::sqrt(split.Variance() / split.within());
}

template <typename Value>
void TraceRecorder::Records<Value>::Add(int64_t call, std::vector<Value> record) {
  if (call % interval != 0) return;
  values.push_back(std::move(record));
  if (std::ssize(values) <= most) return;
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); i += 2) std::swap(values[kept++], values[i]);
  values.resize(kept);
  interval *= 2;
}

void TraceRecorder::Record(const Chains& chains) {
  all_chains_ = chains.count;
  chains_ = std::min(chains.count, kMaxChains);
  dimension_ = chains.dimension;
  std::vector<uint8_t> states(chains.states.begin(), chains.states.begin() + chains_ * dimension_);
  if (calls_ > 0) distance_ += CountChanges(states);
  last_ = states;
  energies_.Add(calls_, {chains.energies.begin(), chains.energies.begin() + chains_});
  states_.Add(calls_, std::move(states));
  ++calls_;
}

Variables TraceRecorder::AllVariables() const {
  return variables_.all_binary() ? Variables::Binary(dimension_) : variables_;
}

// Whether a rare state was seen in one chain and not in another tells nothing of whether they agree.
int64_t TraceRecorder::MostVaryingBit(const Variables& variables, int64_t variable) const {
  const int64_t first = variables.first_bit(variable), bits = variables.bits(variable);
  std::vector<int64_t> ones(bits);
  for (const std::vector<uint8_t>& record : states_.values)
    for (int64_t row = 0; bits > 1 && row < chains_; ++row)
      for (int64_t k = 0; k < bits; ++k) ones[k] += record[row * dimension_ + first + k];
  const int64_t all = std::ssize(states_.values) * chains_;
  return first + (std::ranges::min_element(ones, {}, [&](int64_t n) { return std::abs(2 * n - all); }) -
                  ones.begin());
}

// Since the last call, in all recorded chains.
double TraceRecorder::CountChanges(const std::vector<uint8_t>& states) const {
  const Variables variables = AllVariables();
  int64_t changes = 0;
  for (int64_t begin = 0; begin < std::ssize(states); begin += dimension_)
    changes += HammingDistance(variables, states.data() + begin, last_.data() + begin);
  return static_cast<double>(changes);
}

template <typename Kept, typename Value>
void TraceRecorder::Diagnose(const Kept& records, const Value& value, double& ess, double& r_hat) const {
  std::vector<double> trace;
  trace.reserve(chains_ * records.values.size());
  for (int64_t chain = 0; chain < chains_; ++chain)
    for (const auto& record : records.values) trace.push_back(value(record, chain));
  ess = EffectiveSampleSize(trace, chains_) * static_cast<double>(all_chains_) / static_cast<double>(chains_);
  r_hat = SplitRHat(trace, chains_);
}

Diagnostics TraceRecorder::Summarise(const StepCounters& spent, double seconds) const {
  Diagnostics result;
  result.chains = all_chains_;
  result.draws = std::ssize(states_.values);
  result.acceptance_rate = static_cast<double>(spent.acceptances) / static_cast<double>(spent.proposals);
  result.swap_rate = static_cast<double>(spent.swap_acceptances) / static_cast<double>(spent.swap_proposals);
  result.jump_distance = distance_ / static_cast<double>(chains_ * (calls_ - 1));
  Diagnose(
      energies_, [](const auto& record, int64_t chain) { return record[chain]; }, result.energy_ess,
      result.energy_r_hat);
  result.coordinate_ess = result.coordinate_r_hat = kUnknown;
  const Variables variables = AllVariables();
  for (int64_t v = 0; v < variables.size(); ++v) {
    const int64_t site = MostVaryingBit(variables, v);
    double ess, r_hat;
    Diagnose(
        states_, [&](const auto& record, int64_t chain) { return record[chain * dimension_ + site]; }, ess,
        r_hat);
    // The comparisons hold for unknown values so far; coordinates that never change tell nothing.
    if (!std::isnan(ess) && !(result.coordinate_ess <= ess)) result.coordinate_ess = ess;
    if (!std::isnan(r_hat) && !(result.coordinate_r_hat >= r_hat)) result.coordinate_r_hat = r_hat;
  }
  result.seconds = seconds;
  result.energy_evaluations = spent.energy_evaluations;
  result.ess_per_second = result.energy_ess / seconds;
  result.ess_per_evaluation = result.energy_ess / static_cast<double>(spent.energy_evaluations);
  return result;
}

}  // namespace ort_ed
