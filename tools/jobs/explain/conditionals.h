#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "ort_ed/energy_function.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// log of the probability of a state given all others, where leaving it changes the energy by `change`.
double LogConditional(double change);

// What single variables do to the energy of rows: U(x with variable i changed) - U(x). From the energies of
// all neighbours of a row; of a quadratic energy, from its couplings.
class Conditionals {
 public:
  // `rows`: about how many will be asked for, 0 if not known; couplings are only read where that pays.
  Conditionals(const LoadedModel& model, int64_t rows, int threads, Observer& observer);
  explicit Conditionals(std::shared_ptr<const EnergyFunction> energy) : energy_(std::move(energy)) {}

  bool quadratic() const { return energy_->quadratic() != nullptr; }

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
};

}  // namespace ort_ed
