#include <algorithm>
#include <cmath>
#include <limits>

#include "ort_ed/error.h"
#include "ort_ed/log_z.h"

namespace ort_ed {
namespace {

int64_t BlockRows(int64_t dimension) {
  constexpr int64_t kMostRows = 4096, kMostValues = int64_t{1} << 22;
  return std::clamp<int64_t>(kMostValues / dimension, 1, kMostRows);
}

// Goes through all states, the first variable fastest.
class StateCounter {
 public:
  explicit StateCounter(const Variables& variables)
      : variables_(variables), states_(variables.size()), row_(variables.dimension()) {
    for (int64_t v = 0; v < variables.size(); ++v) variables.SetState(row_.data(), v, 0);
  }

  const std::vector<float>& row() const { return row_; }

  // After the last state the first comes again.
  void Next() {
    for (int64_t v = 0; v < std::ssize(states_); ++v) {
      states_[v] = states_[v] + 1 < variables_.states(v) ? states_[v] + 1 : 0;
      variables_.SetState(row_.data(), v, states_[v]);
      if (states_[v] != 0) return;
    }
  }

 private:
  Variables variables_;
  std::vector<int64_t> states_;  // of each variable
  std::vector<float> row_;
};

// A sum of exponentials whose largest term is not known beforehand.
class RunningLogSum {
 public:
  void Add(std::span<const double> energies) {
    const double largest = -*std::min_element(energies.begin(), energies.end());
    if (std::isinf(largest) && largest < 0) return;  // nothing to add
    if (largest > largest_) {
      sum_ *= std::exp(largest_ - largest);
      largest_ = largest;
    }
    for (double energy : energies) sum_ += std::exp(-energy - largest_);
  }
  double value() const { return largest_ + std::log(sum_); }

 private:
  double largest_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
};

}  // namespace

std::optional<int64_t> CountStates(const Variables& variables) {
  int64_t states = 1;
  for (int64_t v = 0; v < variables.size(); ++v)
    if ((states *= variables.states(v)) > kMaxExactStates) return std::nullopt;
  return states;
}

LogZEstimate ExactLogZ(const EnergyFunction& energy, const WorkCallback& on_progress) {
  const Variables variables = energy.variables();
  const std::optional<int64_t> states = CountStates(variables);
  if (!states) {
    const std::string how_many =
        variables.all_binary() ? "takes 2^D states and ends at D = " + std::to_string(kMaxExactDimension) +
                                     "; this model has D = " + std::to_string(energy.dimension())
                               : "ends at 2^" + std::to_string(kMaxExactDimension) +
                                     " states; the variables of this model have more together";
    throw Error(ErrorCode::kInvalidArgument,
                "exact enumeration " + how_many + ": use annealed importance sampling");
  }
  const int64_t block_rows = BlockRows(variables.dimension());
  StateCounter counter(variables);
  std::vector<float> rows;
  std::vector<double> energies;
  RunningLogSum sum;
  for (int64_t done = 0; done < *states; done += std::ssize(energies)) {
    energies.resize(std::min(block_rows, *states - done));
    rows.resize(energies.size() * counter.row().size());
    for (auto row = rows.begin(); row != rows.end(); counter.Next())
      row = std::ranges::copy(counter.row(), row).out;
    energy.Energy(rows, energies);
    sum.Add(energies);
    if (on_progress) on_progress(done + std::ssize(energies), *states);
  }
  LogZEstimate estimate;
  estimate.method = "exact";
  estimate.log_z = sum.value();
  if (!std::isfinite(estimate.log_z)) {
    throw Error(ErrorCode::kBadModel,
                "log Z is not finite: some state has an energy of minus infinity, or none a finite one; look "
                "for divergence in the model's training");
  }
  estimate.samples = *states;
  estimate.effective_samples = static_cast<double>(estimate.samples);
  return estimate;
}

}  // namespace ort_ed
