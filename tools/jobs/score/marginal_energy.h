#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ort_ed/energy_function.h"
#include "ort_ed/energy_model.h"

namespace ort_ed {

// Up to so many states of what is missing in a row are summed one by one.
inline constexpr int64_t kMostSummedStates = int64_t{1} << 14;

struct MarginalisedRows {
  int64_t rows = 0;          // in which something was missing
  int64_t estimated = 0;     // those of them whose sum is an estimate
  double largest_error = 0;  // standard error of an estimate
};

// Of one row.
struct MarginalSum {
  double log_sum = 0;
  double standard_error = 0;  // 0: exact
};

// Energies of rows in which values are missing (kMissingValue): minus the logarithm of the sum of exp(-U)
// over all states of what is missing. With log Z they give the likelihood of what is known. Sums of more than
// kMostSummedStates are estimated by annealing.
class MarginalEnergy {
 public:
  // `seed`: of the annealing.
  MarginalEnergy(const EnergyModel& model, uint64_t seed, int threads);

  // `errors`: the standard errors of the energies. Calls `look` with the number of rows done between rows
  // with missing values, which take their time; it may throw to stop.
  void Energy(std::span<const uint8_t> rows, std::span<float> energies, std::span<float> errors,
              const std::function<void(int64_t done)>& look);

  const MarginalisedRows& found() const { return found_; }

 private:
  MarginalSum Sum(std::span<const uint8_t> row, const std::vector<int64_t>& missing);

  EnergyModel model_;
  std::shared_ptr<const EnergyFunction> energy_;
  Variables variables_;
  uint64_t seed_;
  int threads_;
  MarginalisedRows found_;
};

}  // namespace ort_ed
