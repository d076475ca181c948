#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ort_ed/random.h"
#include "ort_ed/variables.h"

namespace ort_ed {

// What gradient-guided samplers see of a chain whose variables may have more than two states: the free
// variables, the state each is in, and what going to another state gains. All states of all free variables
// are numbered through.
class LocalStates {
 public:
  // `slopes`: of the energy by each bit.
  LocalStates(const Variables& variables, std::span<const int32_t> free, const float* row,
              std::span<const double> slopes);

  int64_t size() const { return static_cast<int64_t>(current_.size()); }  // variables
  int32_t first(int64_t variable) const { return starts_[variable]; }
  int32_t end(int64_t variable) const { return starts_[variable + 1]; }
  int32_t variable_of(int32_t state) const { return variable_of_[state]; }
  int32_t current(int64_t variable) const { return current_[variable]; }

  // Half the change of log p, to first order, when the variable of `to` goes from its state `from` to `to`;
  // the way back gains as much with the other sign.
  double Gain(int32_t from, int32_t to) const;
  double Gain(int32_t to) const { return Gain(current_[variable_of_[to]], to); }

 private:
  std::vector<int32_t> starts_{0}, variable_of_, current_;
  std::vector<double> halves_;  // -slope / 2 of each state
};

// A variable that goes from one state to another; its states as LocalStates numbers them.
struct StateChange {
  int32_t from;
  int32_t to;
};

// How a gradient-guided sampler proposes changes of one chain's free variables.
class ChangeProposal {
 public:
  virtual ~ChangeProposal() = default;

  // Appends the changes in order; none: the chain stays. Returns the log probability of this draw.
  virtual double Propose(const LocalStates& local, RandomStream& random,
                         std::vector<StateChange>& changes) const = 0;

  // The log probability of undoing the changes from the last to the first, where `local` is that of the
  // proposed state.
  virtual double LogReverse(const LocalStates& local, std::span<const StateChange> changes) const = 0;
};

// exp(gain) of every state; 0 of those that the variables are in, so that it stands for no move.
std::vector<double> MoveWeights(const LocalStates& local);

}  // namespace ort_ed
