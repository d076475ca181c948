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

// Energies of rows in which values are missing (kMissingValue): minus the logarithm of the sum of exp(-U)
// over all states of what is missing. With log Z they give the likelihood of what is known. Sums of more than
// kMostSummedStates are estimated by annealing.
class MarginalEnergy {
 public:
  MarginalEnergy(const EnergyModel& model, int threads);

  // Calls `look` between rows with missing values, which take their time; it may throw to stop.
  void Energy(std::span<const uint8_t> rows, std::span<float> energies, const std::function<void()>& look);

  const MarginalisedRows& found() const { return found_; }

 private:
  double Sum(std::span<const uint8_t> row, const std::vector<int64_t>& missing);

  EnergyModel model_;
  std::shared_ptr<const EnergyFunction> energy_;
  Variables variables_;
  int threads_;
  MarginalisedRows found_;
};

}  // namespace ort_ed
