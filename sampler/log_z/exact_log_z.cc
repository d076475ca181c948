#include <algorithm>
#include <cmath>
#include <limits>

#include "ort_ed/error.h"
#include "ort_ed/log_z.h"

namespace ort_ed {
namespace {

constexpr int64_t kBlockBits = 12;

// All states of the lowest `bits` coordinates, the other coordinates 0.
std::vector<float> LowStates(int64_t dimension, int64_t bits) {
  std::vector<float> rows((int64_t{1} << bits) * dimension);
  for (int64_t row = 0; row < int64_t{1} << bits; ++row)
    for (int64_t i = 0; i < bits; ++i) rows[row * dimension + i] = static_cast<float>(row >> i & 1);
  return rows;
}

void SetHighBits(std::vector<float>& rows, int64_t dimension, int64_t bits, int64_t block) {
  for (size_t row = 0; row < rows.size(); row += dimension)
    for (int64_t i = bits; i < dimension; ++i) rows[row + i] = static_cast<float>(block >> (i - bits) & 1);
}

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

LogZEstimate ExactLogZ(const EnergyFunction& energy, const WorkCallback& on_progress) {
  const int64_t dimension = energy.dimension();
  if (dimension > kMaxExactDimension) {
    throw Error(ErrorCode::kInvalidArgument,
                "exact enumeration takes 2^D states and ends at D = " + std::to_string(kMaxExactDimension) +
                    "; this model has D = " + std::to_string(dimension) +
                    ": use annealed importance sampling");
  }
  const int64_t bits = std::min(dimension, kBlockBits);
  const int64_t blocks = int64_t{1} << (dimension - bits);
  std::vector<float> rows = LowStates(dimension, bits);
  std::vector<double> energies(int64_t{1} << bits);
  RunningLogSum sum;
  for (int64_t block = 0; block < blocks; ++block) {
    SetHighBits(rows, dimension, bits, block);
    energy.Energy(rows, energies);
    sum.Add(energies);
    if (on_progress) on_progress((block + 1) << bits, blocks << bits);
  }
  LogZEstimate estimate;
  estimate.method = "exact";
  estimate.log_z = sum.value();
  if (!std::isfinite(estimate.log_z)) {
    throw Error(ErrorCode::kBadModel,
                "log Z is not finite: some state has an energy of minus infinity, or none a finite one; look "
                "for divergence in the model's training");
  }
  estimate.samples = blocks << bits;
  estimate.effective_samples = static_cast<double>(estimate.samples);
  return estimate;
}

}  // namespace ort_ed
