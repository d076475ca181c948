#include "sampler/detect_quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

// Energies of `center` with the sites i and j <= i flipped (i = j: only one site), at i (i + 1) / 2 + j.
class PairEnergies {
 public:
  PairEnergies(const EnergyFunction& energy, std::span<const float> center)
      : energies_(energy.dimension() * (energy.dimension() + 1) / 2) {
    std::vector<float> batch;
    int64_t done = 0;
    for (int64_t i = 0; i < energy.dimension(); ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        batch.insert(batch.end(), center.begin(), center.end());
        float* row = batch.data() + batch.size() - center.size();
        row[i] = 1 - center[i];
        row[j] = 1 - center[j];
      }
      const int64_t rows = static_cast<int64_t>(batch.size() / center.size());
      if (rows < kBatchRows && i + 1 < energy.dimension()) continue;
      energy.Energy(batch, std::span(energies_).subspan(done, rows));
      done += rows;
      batch.clear();
    }
  }

  double one(int64_t i) const { return two(i, i); }
  double two(int64_t i, int64_t j) const { return energies_[i * (i + 1) / 2 + j]; }

 private:
  std::vector<double> energies_;
};

// Second differences around a random row: around zero, the error of one energy would enter all couplings with
// the same sign and add up.
std::shared_ptr<const QuadraticEnergy> Fit(const EnergyFunction& energy, double precision, int threads) {
  const int64_t dimension = energy.dimension();
  std::vector<float> center(dimension);
  RandomStream random(0, kBackgroundPurpose, 0, 0);
  DrawBits(random, center);
  const PairEnergies flipped(energy, center);
  double constant;
  energy.Energy(center, {&constant, 1});

  const double origin = constant;
  const auto sign = [&](int64_t i) { return 1.0 - 2.0 * center[i]; };  // of the change of x_i
  std::vector<double> couplings(dimension * dimension);
  std::vector<double> fields(dimension);
  for (int64_t i = 0; i < dimension; ++i) {
    fields[i] += sign(i) * (flipped.one(i) - origin);
    for (int64_t j = 0; j < i; ++j) {
      const double second = flipped.two(i, j) - flipped.one(i) - flipped.one(j) + origin;
      const double coupling = std::abs(second) <= 2 * precision ? 0 : sign(i) * sign(j) * second;
      couplings[i * dimension + j] = couplings[j * dimension + i] = coupling;
      fields[i] -= coupling * center[j];
      fields[j] -= coupling * center[i];
    }
  }
  for (int64_t i = 0; i < dimension; ++i) {
    constant -= fields[i] * center[i];
    for (int64_t j = 0; j < i; ++j) constant -= couplings[i * dimension + j] * center[i] * center[j];
  }
  return std::make_shared<QuadraticEnergy>(constant, fields, couplings, threads);
}

bool Predicts(const QuadraticEnergy& form, const EnergyFunction& energy, std::span<const float> rows,
              double tolerance) {
  const size_t count = rows.size() / energy.dimension();
  std::vector<double> predicted(count);
  std::vector<double> actual(count);
  form.Energy(rows, predicted);
  energy.Energy(rows, actual);
  for (size_t row = 0; row < count; ++row)
    if (!(std::abs(predicted[row] - actual[row]) <= tolerance)) return false;
  return true;
}

}  // namespace

std::shared_ptr<const QuadraticEnergy> DetectQuadratic(const EnergyFunction& energy,
                                                       const EnergyFunctionOptions& options) {
  const int64_t dimension = energy.dimension();
  if (1 + dimension * (dimension + 1) / 2 > options.evaluation_budget) return nullptr;
  const ThirdDifferences third = TryThirdDifferences(energy);
  if (!third.vanish) return nullptr;
  const auto form = Fit(energy, third.precision, options.threads);

  // Errors of the couplings are independent and add up like a random walk over the pairs.
  const double tolerance = third.precision * static_cast<double>(4 + dimension);
  std::vector<float> rows(kVerifyRows * dimension);
  for (int row = 0; row < kVerifyRows; ++row) {
    RandomStream random(0, kVerifyPurpose, 0, row);
    DrawBits(random, std::span(rows).subspan(row * dimension, dimension));
  }
  if (!Predicts(*form, energy, rows, tolerance)) return nullptr;
  Chains chains = StartChains(Target(form), kVerifyRows, 0);
  MakeSampler("gibbs", Target(form))->Step(chains, 20);
  return Predicts(*form, energy, chains.states, tolerance) ? form : nullptr;
}

}  // namespace ort_ed
