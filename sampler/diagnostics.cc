#include "ort_ed/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/hamming.h"

namespace ort_ed {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Whether what is kept is the same in all of these chains, so that they draw from one distribution.
bool HaveOneLaw(const Chains& chains, int64_t count) {
  for (int64_t site = 0; !chains.clamped.empty() && site < chains.dimension; ++site)
    for (int64_t chain = 1; chain < count; ++chain) {
      const bool clamped = chains.IsClamped(chain, site);
      if (clamped != chains.IsClamped(0, site)) return false;
      if (clamped && chains.state(chain)[site] != chains.state(0)[site]) return false;
    }
  return true;
}

}  // namespace

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
  if (calls_ == 0) one_law_ = HaveOneLaw(chains, chains_);
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
std::vector<double> TraceRecorder::Trace(const Kept& records, const Value& value) const {
  std::vector<double> trace;
  trace.reserve(chains_ * records.values.size());
  for (int64_t chain = 0; chain < chains_; ++chain)
    for (const auto& record : records.values) trace.push_back(value(record, chain));
  return trace;
}

// Of all chains. Where they draw from different distributions each tells only of itself, and one in which the
// quantity never changes, of nothing.
double TraceRecorder::SizeOfAll(const std::vector<double>& trace,
                                double (*size)(std::span<const double>, int64_t)) const {
  const auto all = static_cast<double>(all_chains_);
  if (one_law_) return size(trace, chains_) * all / static_cast<double>(chains_);
  const int64_t length = std::ssize(trace) / chains_;
  double sum = 0;
  int64_t known = 0;
  for (int64_t chain = 0; chain < chains_; ++chain) {
    const double own = size(std::span(trace).subspan(chain * length, length), 1);
    if (std::isnan(own)) continue;
    sum += own;
    ++known;
  }
  return known == 0 ? kUnknown : sum * all / static_cast<double>(known);
}

void TraceRecorder::DiagnoseVariables(Diagnostics& result) const {
  result.coordinate_ess = result.coordinate_r_hat = kUnknown;
  const Variables variables = AllVariables();
  for (int64_t v = 0; v < variables.size(); ++v) {
    const int64_t site = MostVaryingBit(variables, v);
    const std::vector<double> trace = Trace(states_, [&](const auto& record, int64_t chain) {
      return static_cast<double>(record[chain * dimension_ + site]);
    });
    // Ranks of two values are these values, but for scale, and bits have no tail.
    const double ess = SizeOfAll(trace, EffectiveSampleSize);
    const double r_hat = one_law_ ? SplitRHat(trace, chains_) : kUnknown;
    // The comparisons hold for unknown values so far; coordinates that never change tell nothing.
    if (!std::isnan(ess) && !(result.coordinate_ess <= ess)) result.coordinate_ess = ess;
    if (!std::isnan(r_hat) && !(result.coordinate_r_hat >= r_hat)) {
      result.coordinate_r_hat = r_hat;
      result.worst_variable = v;
    }
  }
}

Diagnostics TraceRecorder::Summarise(const StepCounters& spent, double seconds) const {
  Diagnostics result;
  result.chains = all_chains_;
  result.draws = std::ssize(states_.values);
  result.acceptance_rate = static_cast<double>(spent.acceptances) / static_cast<double>(spent.proposals);
  result.move_rate = static_cast<double>(spent.moves) / static_cast<double>(spent.proposals);
  result.swap_rate = static_cast<double>(spent.swap_acceptances) / static_cast<double>(spent.swap_proposals);
  result.jump_distance = distance_ / static_cast<double>(chains_ * (calls_ - 1));
  const std::vector<double> energies =
      Trace(energies_, [](const auto& record, int64_t chain) { return record[chain]; });
  result.energy_ess = SizeOfAll(energies, BulkEffectiveSampleSize);
  result.energy_tail_ess = SizeOfAll(energies, TailEffectiveSampleSize);
  result.energy_r_hat = one_law_ ? RankRHat(energies, chains_) : kUnknown;
  DiagnoseVariables(result);
  result.seconds = seconds;
  result.energy_evaluations = spent.energy_evaluations;
  result.ess_per_second = result.energy_ess / seconds;
  result.ess_per_evaluation = result.energy_ess / static_cast<double>(spent.energy_evaluations);
  return result;
}

}  // namespace ort_ed
