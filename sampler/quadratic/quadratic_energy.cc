#include <algorithm>
#include <cmath>
#include <string>

#include "ort_ed/energy_function.h"
#include "ort_ed/error.h"
#include "runtime/support/parallel_for.h"
#include "sampler/quadratic/sweep_rows.h"

namespace ort_ed {
namespace {

void CheckCouplings(std::span<const double> fields, std::span<const double> couplings) {
  const size_t dimension = fields.size();
  if (dimension == 0 || couplings.size() != dimension * dimension) {
    throw Error(ErrorCode::kInvalidArgument, "a quadratic energy of " + std::to_string(dimension) +
                                                 " variables needs " + std::to_string(dimension * dimension) +
                                                 " couplings, not " + std::to_string(couplings.size()));
  }
  for (size_t i = 0; i < dimension; ++i) {
    bool good = std::isfinite(fields[i]);
    for (size_t j = 0; j < i; ++j) {
      const double coupling = couplings[i * dimension + j];
      good = good && std::isfinite(coupling) && coupling == couplings[j * dimension + i];
    }
    if (!good) {
      throw Error(ErrorCode::kInvalidArgument,
                  "row " + std::to_string(i) + " of the couplings is not finite or not symmetric");
    }
  }
}

}  // namespace

QuadraticEnergy::QuadraticEnergy(double constant, std::span<const double> fields,
                                 std::span<const double> couplings, int threads)
    : constant_(constant), threads_(threads), fields_(fields.begin(), fields.end()), starts_{0} {
  CheckCouplings(fields, couplings);
  const int64_t dimension = this->dimension();
  for (int64_t i = 0; i < dimension; ++i) {
    for (int64_t j = 0; j < dimension; ++j) {
      const float coupling = static_cast<float>(couplings[i * dimension + j]);
      if (i != j && coupling != 0) neighbours_.push_back({static_cast<int32_t>(j), coupling});
    }
    starts_.push_back(static_cast<int64_t>(neighbours_.size()));
  }
}

void QuadraticEnergy::Energy(std::span<const float> rows, std::span<double> energies) const {
  EnergyAndGradient(rows, energies, {});
}

void QuadraticEnergy::EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                        std::span<float> gradients) const {
  const int64_t count = static_cast<int64_t>(energies.size());
  const double work = static_cast<double>(count) * static_cast<double>(neighbours_.size() + fields_.size());
  ParallelFor(threads_, CountSweepGroups(count), work * 0.1, [&](int64_t group) {
    SweepRows states(dimension());
    states.Load(rows, group);
    SweepDoubles values;
    std::vector<SweepFloats> slopes(gradients.empty() ? 0 : dimension());
    EvaluateRows(MakeSweepEnergy(*this), states.data(), values, slopes.empty() ? nullptr : slopes.data());
    for (int64_t row = group * kSweepRows; row < std::min(count, (group + 1) * kSweepRows); ++row) {
      const int place = static_cast<int>(row % kSweepRows);
      energies[row] = constant_ + values.row[place];
      for (size_t i = 0; i < slopes.size(); ++i) gradients[row * dimension() + i] = slopes[i].row[place];
    }
  });
}

}  // namespace ort_ed
