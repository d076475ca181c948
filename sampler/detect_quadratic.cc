#include "sampler/detect_quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ort_ed/random.h"
#include "ort_ed/sampler.h"

namespace ort_ed {
namespace {

constexpr uint32_t kThirdDifferencePurpose = 0x51443344;  // "QD3D"
constexpr uint32_t kBackgroundPurpose = 0x51444247;       // "QDBG"
constexpr uint32_t kVerifyPurpose = 0x51445659;           // "QDVY"
constexpr int kTrials = 24;
constexpr int kVerifyRows = 256;
constexpr int64_t kBatchRows = 8192;
constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

void DrawBits(RandomStream& random, std::span<float> row) {
  for (float& bit : row) bit = static_cast<float>(random.Next32() & 1);
}

// The precision with which differences of the model's energies are known, and whether third differences
// vanish within it: flipping three disjoint groups of coordinates in all 8 ways is a third difference of the
// whole groups, so that even a small curvature shows.
struct ThirdDifferences {
  double precision = 0;
  bool vanish = false;
};

ThirdDifferences TryThirdDifferences(const EnergyFunction& energy) {
  const int64_t dimension = energy.dimension();
  std::vector<float> rows(kTrials * 8 * dimension);
  for (int trial = 0; trial < kTrials; ++trial) {
    RandomStream random(0, kThirdDifferencePurpose, 0, trial);
    std::vector<float> start(dimension);
    DrawBits(random, start);
    for (int64_t i = 0; i < dimension; ++i) {
      const int group = static_cast<int>(random.Below(3));
      for (int corner = 0; corner < 8; ++corner) {
        const bool flip = (corner >> group & 1) != 0;
        rows[(trial * 8 + corner) * dimension + i] = flip ? 1 - start[i] : start[i];
      }
    }
  }
  std::vector<double> energies(kTrials * 8);
  energy.Energy(rows, energies);
  double largest = 0;
  double scale = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double difference = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const double value = energies[trial * 8 + corner];
      difference += __builtin_parity(corner) != 0 ? -value : value;
      scale = std::max(scale, std::abs(value));
    }
    largest = std::max(largest, std::abs(difference));
  }
  // A model in float sums up some hundred terms of up to about the size of the energy.
  const double precision = 8 * kFloatEpsilon * scale;
  return {precision, std::isfinite(scale) && largest <= 8 * precision};
}

// Energies around a row: of the row itself, with one site flipped, and by how much flipping two sites exceeds
// the sum of flipping each.
struct Surroundings {
  double origin = 0;
  std::vector<double> one;
  std::vector<double> excess;  // dimension x dimension, below the diagonal
  double precision = 0;        // of the excesses
};

// The row with the sites i and j flipped (i = j: only one site), appended to a batch.
void AppendFlipped(std::span<const float> center, int64_t i, int64_t j, std::vector<float>& batch) {
  batch.insert(batch.end(), center.begin(), center.end());
  float* row = batch.data() + batch.size() - center.size();
  row[i] = 1 - center[i];
  row[j] = 1 - center[j];
}

// By second differences of energies: D (D + 1) / 2 evaluations.
Surroundings FromEnergies(const EnergyFunction& energy, std::span<const float> center, double precision) {
  const int64_t dimension = energy.dimension();
  Surroundings result{0, std::vector<double>(dimension), std::vector<double>(dimension * dimension),
                      2 * precision};
  energy.Energy(center, {&result.origin, 1});
  std::vector<float> batch;
  for (int64_t i = 0, first = 0; i < dimension; ++i) {
    for (int64_t j = 0; j <= i; ++j) AppendFlipped(center, i, j, batch);
    if (std::ssize(batch) < kBatchRows * dimension && i + 1 < dimension) continue;
    std::vector<double> energies(batch.size() / center.size());
    energy.Energy(batch, energies);
    for (const double* next = energies.data(); first <= i; ++first)
      for (int64_t j = 0; j <= first; ++j) result.excess[first * dimension + j] = *next++;
    batch.clear();
  }
  for (int64_t i = 0; i < dimension; ++i) result.one[i] = result.excess[i * dimension + i];
  for (int64_t i = 0; i < dimension; ++i)
    for (int64_t j = 0; j < i; ++j)
      result.excess[i * dimension + j] -= result.one[i] + result.one[j] - result.origin;
  return result;
}

// By first differences of gradients: D + 1 evaluations, and more precise; valid where the graph is quadratic
// between 0 and 1 as well.
Surroundings FromGradients(const EnergyFunction& energy, std::span<const float> center) {
  const int64_t dimension = energy.dimension();
  std::vector<float> rows;
  for (int64_t i = 0; i < dimension; ++i) AppendFlipped(center, i, i, rows);
  rows.insert(rows.end(), center.begin(), center.end());
  std::vector<double> energies(dimension + 1);
  std::vector<float> gradients(rows.size());
  energy.EnergyAndGradient(rows, energies, gradients);
  Surroundings result{energies[dimension], energies, std::vector<double>(dimension * dimension), 0};
  const float* origin = &gradients[dimension * dimension];
  const auto difference = [&](int64_t i, int64_t j) {
    return (1.0 - 2.0 * center[j]) * (static_cast<double>(gradients[i * dimension + j]) - origin[j]);
  };
  for (const float slope : gradients)
    result.precision = std::max(result.precision, 16 * kFloatEpsilon * std::abs(slope));
  for (int64_t i = 0; i < dimension; ++i)
    for (int64_t j = 0; j < i; ++j)
      result.excess[i * dimension + j] = (difference(i, j) + difference(j, i)) / 2;
  return result;
}

struct Form {
  double constant = 0;
  std::vector<double> fields;
  std::vector<double> couplings;

  std::shared_ptr<const QuadraticEnergy> Energy(int threads) const {
    return std::make_shared<QuadraticEnergy>(constant, fields, couplings, threads);
  }
};

Form Solve(const Surroundings& around, std::span<const float> center) {
  const int64_t dimension = std::ssize(center);
  const auto sign = [&](int64_t i) { return 1.0 - 2.0 * center[i]; };  // of the change of x_i
  Form form{around.origin, std::vector<double>(dimension), std::vector<double>(dimension * dimension)};
  for (int64_t i = 0; i < dimension; ++i) {
    form.fields[i] += sign(i) * (around.one[i] - around.origin);
    for (int64_t j = 0; j < i; ++j) {
      const double excess = around.excess[i * dimension + j];
      const double coupling = std::abs(excess) <= around.precision ? 0 : sign(i) * sign(j) * excess;
      form.couplings[i * dimension + j] = form.couplings[j * dimension + i] = coupling;
      form.fields[i] -= coupling * center[j];
      form.fields[j] -= coupling * center[i];
    }
  }
  for (int64_t i = 0; i < dimension; ++i) {
    form.constant -= form.fields[i] * center[i];
    for (int64_t j = 0; j < i; ++j)
      form.constant -= form.couplings[i * dimension + j] * center[i] * center[j];
  }
  return form;
}

std::vector<double> Residuals(const EnergyFunction& form, const EnergyFunction& energy,
                              std::span<const float> rows) {
  std::vector<double> predicted(rows.size() / energy.dimension());
  std::vector<double> residuals(predicted.size());
  form.Energy(rows, predicted);
  energy.Energy(rows, residuals);
  for (size_t row = 0; row < residuals.size(); ++row) residuals[row] -= predicted[row];
  return residuals;
}

bool Small(const std::vector<double>& residuals, double tolerance) {
  return std::all_of(residuals.begin(), residuals.end(), [&](double r) { return std::abs(r) <= tolerance; });
}

// The form as an energy if it predicts the energies of random rows and of its own samples.
std::shared_ptr<const QuadraticEnergy> Verified(Form form, const EnergyFunction& energy, double tolerance,
                                                int threads) {
  const int64_t dimension = energy.dimension();
  std::vector<float> rows(kVerifyRows * dimension);
  for (int row = 0; row < kVerifyRows; ++row) {
    RandomStream random(0, kVerifyPurpose, 0, row);
    DrawBits(random, std::span(rows).subspan(row * dimension, dimension));
  }
  const std::vector<double> residuals = Residuals(*form.Energy(threads), energy, rows);
  if (!Small(residuals, tolerance)) return nullptr;
  // The rounding of the one energy around which all differences were taken is common to all rows.
  form.constant += std::accumulate(residuals.begin(), residuals.end(), 0.0) / kVerifyRows;
  auto result = form.Energy(threads);
  Chains chains = StartChains(Target(result), kVerifyRows, 0);
  MakeSampler("gibbs", Target(result))->Step(chains, 20);
  return Small(Residuals(*result, energy, chains.states), tolerance) ? result : nullptr;
}

}  // namespace

std::shared_ptr<const QuadraticEnergy> DetectQuadratic(const EnergyFunction& energy,
                                                       const EnergyFunctionOptions& options) {
  const int64_t dimension = energy.dimension();
  const bool by_energies = 1 + dimension * (dimension + 1) / 2 <= options.evaluation_budget;
  const bool by_gradients = energy.HasGradient() && 1 + dimension <= options.evaluation_budget;
  if (!by_energies && !by_gradients) return nullptr;
  const ThirdDifferences third = TryThirdDifferences(energy);
  if (!third.vanish) return nullptr;

  // A random row: around zero, the error of one energy would enter all couplings with the same sign and add
  // up.
  std::vector<float> center(dimension);
  RandomStream random(0, kBackgroundPurpose, 0, 0);
  DrawBits(random, center);
  // Errors of the couplings are independent and add up like a random walk over the pairs.
  const double tolerance = third.precision * static_cast<double>(4 + dimension);
  const auto verified = [&](const Surroundings& around) {
    return Verified(Solve(around, center), energy, tolerance, options.threads);
  };
  if (by_gradients)
    if (auto found = verified(FromGradients(energy, center))) return found;
  return by_energies ? verified(FromEnergies(energy, center, third.precision)) : nullptr;
}

}  // namespace ort_ed
