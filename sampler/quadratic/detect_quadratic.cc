#include "sampler/quadratic/detect_quadratic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "ort_ed/random.h"
#include "ort_ed/sampler.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDifferencePurpose = 0x51443344;  // "QD3D"
constexpr uint32_t kBackgroundPurpose = 0x51444247;  // "QDBG"
constexpr uint32_t kVerifyPurpose = 0x51445659;      // "QDVY"
constexpr int kTrials = 48;
constexpr int kVerifyRows = 256;
constexpr int64_t kBatchRows = 8192;
constexpr int64_t kBatchValues = int64_t{1} << 22;  // of gradients
// The couplings of more variables would take gigabytes.
constexpr int64_t kMaxDimension = 8192;
constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

void DrawBits(RandomStream& random, std::span<float> row) {
  for (float& bit : row) bit = static_cast<float>(random.Next32() & 1);
}

enum class Groups { kAllSites, kThreeSites };

// Draws three disjoint groups of sites, 0 to 2; 3 is in none. Of all sites a quarter stays out: a function
// that does not change when all bits do has no third differences over groups that make up the whole row.
std::vector<int> DrawGroups(Groups groups, int64_t dimension, RandomStream& random) {
  std::vector<int> group_of(dimension, 3);
  if (groups == Groups::kAllSites)
    for (int& group : group_of) group = static_cast<int>(random.Below(4));
  else
    for (int group = 0; group < 3; ++group) group_of[random.Below(static_cast<uint32_t>(dimension))] = group;
  return group_of;
}

// Root mean squares of the differences of energies when three groups of sites are flipped in all 8 ways.
struct Differences {
  double second = 0;  // of two groups
  double third = 0;
  double scale = 0;  // the largest energy
};

Differences TryDifferences(const EnergyFunction& energy, Groups groups, int trials) {
  const int64_t dimension = energy.dimension();
  std::vector<float> rows(trials * 8 * dimension);
  std::vector<float> start(dimension);
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream random(0, kDifferencePurpose, static_cast<uint32_t>(groups), trial);
    DrawBits(random, start);
    const std::vector<int> group_of = DrawGroups(groups, dimension, random);
    for (int corner = 0; corner < 8; ++corner)
      for (int64_t i = 0; i < dimension; ++i)
        rows[(trial * 8 + corner) * dimension + i] =
            (corner >> group_of[i] & 1) != 0 ? 1 - start[i] : start[i];
  }
  std::vector<double> energies(trials * 8);
  energy.Energy(rows, energies);
  Differences result;
  for (int trial = 0; trial < trials; ++trial) {
    const double* u = &energies[trial * 8];
    const double second = u[0] - u[1] - u[2] + u[3];
    const double third = second - (u[4] - u[5] - u[6] + u[7]);
    result.second += second * second / trials;
    result.third += third * third / trials;
    for (int corner = 0; corner < 8; ++corner) result.scale = std::max(result.scale, std::abs(u[corner]));
  }
  result.second = std::sqrt(result.second);
  result.third = std::sqrt(result.third);
  return result;
}

struct Rounding {
  double size = 0;   // of differences of energies
  double scale = 0;  // that those energies have
};

// The rounding of the model's energies, as far as differences show it, if they leave no doubt that the energy
// is quadratic. Rounding makes third differences of about the same size over single sites and over large
// groups; a term of higher order grows with the groups. Where the quadratic part itself is not far above the
// rounding, terms of higher order could hide in it: then nobody can tell.
std::optional<Rounding> MeasureRounding(const EnergyFunction& energy) {
  constexpr double kRounding = 2 * kFloatEpsilon;  // of energies of size 1, where it was measured
  constexpr double kSpread = 4;                    // between estimates of the rounding
  constexpr double kPower = 1e-4;
  const Differences quick = TryDifferences(energy, Groups::kAllSites, 4);
  if (!(quick.third <= 8 * kSpread * kRounding * quick.scale) || !std::isfinite(quick.scale))
    return std::nullopt;
  const Differences wide = TryDifferences(energy, Groups::kAllSites, kTrials);
  const Differences narrow = TryDifferences(energy, Groups::kThreeSites, kTrials);
  const double rounding = std::max(kRounding * wide.scale, narrow.third);
  const bool exactly_linear = wide.second == 0 && wide.third == 0 && narrow.third == 0;
  const bool quadratic = wide.third <= kSpread * rounding && rounding <= kPower * wide.second;
  if (!exactly_linear && !quadratic) return std::nullopt;
  return Rounding{rounding, wide.scale};
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
Surroundings FromEnergies(const EnergyFunction& energy, std::span<const float> center, double precision,
                          const WorkCallback& on_progress) {
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
    if (on_progress) on_progress((i + 1) * (i + 2) / 2, dimension * (dimension + 1) / 2);
  }
  for (int64_t i = 0; i < dimension; ++i) result.one[i] = result.excess[i * dimension + i];
  for (int64_t i = 0; i < dimension; ++i)
    for (int64_t j = 0; j < i; ++j)
      result.excess[i * dimension + j] -= result.one[i] + result.one[j] - result.origin;
  return result;
}

// By first differences of gradients: D + 1 evaluations, and more precise; valid where the graph is quadratic
// between 0 and 1 as well.
Surroundings FromGradients(const EnergyFunction& energy, std::span<const float> center,
                           const WorkCallback& on_progress) {
  const int64_t dimension = energy.dimension();
  Surroundings result{0, std::vector<double>(dimension), std::vector<double>(dimension * dimension), 0};
  std::vector<float> origin(dimension), gradients(dimension * dimension);  // [flipped][slope]
  energy.EnergyAndGradient(center, {&result.origin, 1}, origin);
  const int64_t batch = std::max<int64_t>(1, kBatchValues / dimension);
  for (int64_t first = 0; first < dimension; first += batch) {
    const int64_t count = std::min(batch, dimension - first);
    std::vector<float> rows;
    for (int64_t i = first; i < first + count; ++i) AppendFlipped(center, i, i, rows);
    energy.EnergyAndGradient(rows, std::span(result.one).subspan(first, count),
                             std::span(gradients).subspan(first * dimension, count * dimension));
    if (on_progress) on_progress(first + count, dimension);
  }
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

// Energies of rows, and how far the form is from them.
struct Comparison {
  std::vector<double> energies;
  std::vector<double> residuals;

  double MeanResidual() const {
    return std::accumulate(residuals.begin(), residuals.end(), 0.0) / static_cast<double>(residuals.size());
  }
  // `tolerance` is for energies of size `scale`: larger ones are rounded more.
  bool Agrees(double offset, double tolerance, double scale) const {
    for (size_t row = 0; row < residuals.size(); ++row) {
      const double allowed = tolerance * std::max(1.0, std::abs(energies[row]) / scale);
      if (!(std::abs(residuals[row] - offset) <= allowed)) return false;
    }
    return true;
  }
};

Comparison Compare(const EnergyFunction& form, const EnergyFunction& energy, std::span<const float> rows) {
  std::vector<double> predicted(rows.size() / energy.dimension());
  Comparison result{std::vector<double>(predicted.size()), std::vector<double>(predicted.size())};
  form.Energy(rows, predicted);
  energy.Energy(rows, result.energies);
  std::ranges::transform(result.energies, predicted, result.residuals.begin(), std::minus());
  return result;
}

// The form as an energy if it predicts the energies of random rows and of its own samples.
std::shared_ptr<const QuadraticEnergy> Verified(Form form, const EnergyFunction& energy, double tolerance,
                                                double scale, int threads) {
  const int64_t dimension = energy.dimension();
  std::vector<float> rows(kVerifyRows * dimension);
  for (int row = 0; row < kVerifyRows; ++row) {
    RandomStream random(0, kVerifyPurpose, 0, row);
    DrawBits(random, std::span(rows).subspan(row * dimension, dimension));
  }
  // The rounding of the one energy around which all differences were taken is common to all pairs: at some
  // distance from that row it adds up to the same for all rows.
  const Comparison comparison = Compare(*form.Energy(threads), energy, rows);
  const double offset = comparison.MeanResidual();
  if (!comparison.Agrees(offset, tolerance, scale)) return nullptr;
  form.constant += offset;
  auto result = form.Energy(threads);
  Chains chains = StartChains(EnergyPath(result), kVerifyRows, 0);
  MakeSampler("gibbs", EnergyPath(result))->Step(chains, 20);
  return Compare(*result, energy, chains.states).Agrees(0, tolerance, scale) ? result : nullptr;
}

}  // namespace

std::shared_ptr<const QuadraticEnergy> DetectQuadratic(const EnergyFunction& energy,
                                                       const EnergyFunctionOptions& options) {
  const int64_t dimension = energy.dimension();
  const bool by_energies = 1 + dimension * (dimension + 1) / 2 <= options.evaluation_budget;
  const bool by_gradients = energy.HasGradient() && 1 + dimension <= options.evaluation_budget;
  if (dimension > kMaxDimension || (!by_energies && !by_gradients)) return nullptr;
  const std::optional<Rounding> rounding = MeasureRounding(energy);
  if (!rounding) return nullptr;
  const double precision = 4 * rounding->size;

  // A random row: around zero, the error of one energy would enter all couplings with the same sign and add
  // up.
  std::vector<float> center(dimension);
  RandomStream random(0, kBackgroundPurpose, 0, 0);
  DrawBits(random, center);
  // Errors of the couplings are independent and add up like a random walk over the pairs; those of the
  // energies with one site flipped enter the couplings of that site all together.
  const double tolerance = 2 * precision * static_cast<double>(4 + dimension);
  const auto verified = [&](const Surroundings& around) {
    return Verified(Solve(around, center), energy, tolerance, rounding->scale, options.threads);
  };
  if (by_gradients)
    if (auto found = verified(FromGradients(energy, center, options.on_progress))) return found;
  return by_energies ? verified(FromEnergies(energy, center, precision, options.on_progress)) : nullptr;
}

}  // namespace ort_ed
