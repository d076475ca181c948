#include "tools/quadratic_couplings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kProbePurpose = 0x50524f42;
constexpr int kProbes = 64;
constexpr int64_t kMaxDimension = 2048;

// How much the energy of x_i = x_j = 1 exceeds the sum of the parts, all other variables being 0: for i < j,
// from the energies of all x with at most two ones.
std::vector<double> PairEnergies(const EnergyModel& model) {
  const auto n = static_cast<size_t>(model.dimension());
  std::vector<double> pairs(n * n);
  std::vector<uint8_t> rows((n + 1) * n);
  for (size_t i = 0; i < n; ++i) rows[(i + 1) * n + i] = 1;
  std::vector<float> single(n + 1), both(n);
  model.Energy(std::span<const uint8_t>(rows), single);
  for (size_t i = 0; i + 1 < n; ++i) {
    std::fill(rows.begin(), rows.end(), uint8_t{0});
    const size_t count = n - i - 1;
    for (size_t k = 0; k < count; ++k) rows[k * n + i] = rows[k * n + i + 1 + k] = 1;
    model.Energy(std::span<const uint8_t>(rows).first(count * n), std::span(both).first(count));
    for (size_t j = i + 1; j < n; ++j)
      pairs[i * n + j] = static_cast<double>(both[j - i - 1]) - single[i + 1] - single[j + 1] + single[0];
  }
  return pairs;
}

// In a quadratic energy the pair energy of i and j does not depend on the other variables.
void CheckQuadratic(const EnergyModel& model, const std::vector<double>& pairs, const std::string& file) {
  constexpr double kRounding = 2e-6;  // of the four float32 energies and of what was summed up in each
  const auto n = static_cast<size_t>(model.dimension());
  std::vector<uint8_t> rows(4 * n);
  std::array<float, 4> energies;
  for (uint64_t probe = 0; n >= 2 && probe < kProbes; ++probe) {
    RandomStream random(1, kProbePurpose, 0, probe);
    for (size_t k = 0; k < n; ++k)
      rows[k] = rows[n + k] = rows[2 * n + k] = rows[3 * n + k] = static_cast<uint8_t>(random.Below(2));
    const size_t i = random.Below(static_cast<uint32_t>(n - 1));
    const size_t j = i + 1 + random.Below(static_cast<uint32_t>(n - 1 - i));
    for (size_t state = 0; state < 4; ++state) {
      rows[state * n + i] = state & 1;
      rows[state * n + j] = state >> 1;
    }
    model.Energy(std::span<const uint8_t>(rows), energies);
    double largest = 0;
    for (const float energy : energies) largest = std::max(largest, std::abs(static_cast<double>(energy)));
    const double here = static_cast<double>(energies[3]) - energies[1] - energies[2] + energies[0];
    if (std::abs(here - pairs[i * n + j]) > kRounding * largest + 1e-6)
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "'{}' is not quadratic in its variables: the energy of the pair {}, {} is {:g} or {:g}, "
              "depending on the others; only Ising-like models have couplings to draw",
              file, i, j, pairs[i * n + j], here));
  }
}

}  // namespace

std::vector<double> QuadraticCouplings(const EnergyModel& model, const std::string& file) {
  const auto n = static_cast<size_t>(model.dimension());
  if (model.dimension() > kMaxDimension)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' has {} variables; couplings of at most {} can be drawn", file, n, kMaxDimension));
  const std::vector<double> pairs = PairEnergies(model);
  CheckQuadratic(model, pairs, file);
  // The energy holds -2 J_ij s_i s_j, both triangles taken together, and s_i s_j = 4 x_i x_j - ...
  std::vector<double> couplings(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) couplings[i * n + j] = couplings[j * n + i] = -pairs[i * n + j] / 8;
  return couplings;
}

}  // namespace ort_ed
