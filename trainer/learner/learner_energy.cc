#include "trainer/learner/learner_energy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

class LearnerEnergy final : public EnergyFunction {
 public:
  explicit LearnerEnergy(LearnerEnergyParts parts) : parts_(std::move(parts)) {}

  int64_t dimension() const override { return parts_.dimension; }
  bool HasGradient() const override { return parts_.gradient; }
  const BipartiteForm* bipartite() const override { return parts_.bipartite.get(); }
  int64_t rows_at_once() const override { return parts_.rows_at_once; }

  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    Evaluate(rows, energies, {});
  }

  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    if (!parts_.gradient)
      throw Error(ErrorCode::kInvalidArgument, "this energy was made without its gradient; ask for it");
    Evaluate(rows, energies, gradients);
  }

 private:
  void Evaluate(std::span<const float> rows, std::span<double> energies, std::span<float> gradients) const {
    std::vector<float> values(energies.size());
    parts_.evaluate(rows, values, gradients);
    std::ranges::copy(values, energies.begin());
  }

  LearnerEnergyParts parts_;
};

// What is left of `slope` when `origin` is taken away, or 0 where that is no more than rounding: couplings
// that are zero stay zero, and the sparse ones fast.
double Difference(float slope, float origin) {
  constexpr double kRounding = 4 * std::numeric_limits<float>::epsilon();
  const double difference = double{slope} - origin;
  return std::abs(difference) > kRounding * (std::abs(slope) + std::abs(origin)) ? difference : 0;
}

}  // namespace

std::shared_ptr<const EnergyFunction> MakeLearnerEnergy(LearnerEnergyParts parts) {
  return std::make_shared<LearnerEnergy>(std::move(parts));
}

// With U = c + b'x + x'Ax / 2 and A symmetric the gradient is b at the origin and b + (column j of A) at e_j.
// On bits x_i^2 = x_i, so that half of the diagonal is part of the fields.
std::shared_ptr<const QuadraticEnergy> ReadQuadratic(int64_t dimension, const EvaluateStates& evaluate,
                                                     int threads) {
  const auto n = static_cast<size_t>(dimension);
  std::vector<float> states((n + 1) * n), energies(n + 1), slopes((n + 1) * n);
  for (size_t j = 0; j < n; ++j) states[(j + 1) * n + j] = 1;
  evaluate(states, energies, slopes);
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!is_finite(energies[0]) || !std::ranges::all_of(slopes, is_finite)) return nullptr;

  const auto second = [&](size_t i, size_t j) { return Difference(slopes[(j + 1) * n + i], slopes[i]); };
  std::vector<double> fields(n), couplings(n * n);
  for (size_t i = 0; i < n; ++i) {
    fields[i] = slopes[i] + second(i, i) / 2;
    for (size_t j = 0; j < i; ++j)
      couplings[i * n + j] = couplings[j * n + i] = (second(i, j) + second(j, i)) / 2;
  }
  return std::make_shared<QuadraticEnergy>(energies[0], fields, couplings, threads);
}

}  // namespace ort_ed
