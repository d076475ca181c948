#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ort_ed/energy_function.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// log of the probability of a binary variable's state given all others, where leaving it changes the energy
// by `change`.
double LogConditional(double change);

// log of the probability of each state of a variable given all others. `changes`: of the moves from this row.
std::vector<double> LogConditionals(const Variables& variables, int64_t variable, const float* row,
                                    const double* changes);

// What single variables do to the energy of rows: U(x after a move) - U(x), where a move is one bit
// (variables.h); 0 of the bit that stands for the state a variable is in. From the energies of all neighbours
// of a row; of a quadratic energy of binary variables, from its couplings.
class Conditionals {
 public:
  // `rows`: about how many will be asked for, 0 if not known; couplings are only read where that pays.
  Conditionals(const LoadedModel& model, int64_t rows, int threads, Observer& observer);
  explicit Conditionals(std::shared_ptr<const EnergyFunction> energy)
      : energy_(std::move(energy)), variables_(energy_->variables()) {}

  const Variables& variables() const { return variables_; }
  bool quadratic() const { return variables_.all_binary() && energy_->quadratic() != nullptr; }

  // `rows` of 0 and 1, energies.size() of them; `changes` has a value for each of theirs. `wanted`, as
  // `rows`, or empty for all: where it is 0 the change is not computed and stays as it is. `look` is called
  // now and then with the rows that are done.
  void Compute(std::span<const float> rows, std::span<const uint8_t> wanted, std::span<double> energies,
               std::span<double> changes, const std::function<void(int64_t rows)>& look) const;

 private:
  void FromNeighbours(std::span<const float> rows, std::span<const uint8_t> wanted,
                      std::span<const double> energies, std::span<double> changes,
                      const std::function<void(int64_t rows)>& look) const;

  std::shared_ptr<const EnergyFunction> energy_;
  Variables variables_;
};

}  // namespace ort_ed
