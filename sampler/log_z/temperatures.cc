#include <algorithm>
#include <cmath>

#include "ort_ed/log_z.h"
#include "ort_ed/random.h"
#include "sampler/log_z/annealing_options.h"

namespace ort_ed {
namespace {

constexpr uint32_t kPilotPurpose = 0x50494C54;  // "PILT"

std::vector<double> Linear(int64_t steps) {
  std::vector<double> betas(steps + 1);
  for (int64_t k = 0; k <= steps; ++k) betas[k] = static_cast<double>(k) / static_cast<double>(steps);
  return betas;
}

// Equal steps of the logistic function's argument over [-4, 4], rescaled to [0, 1]: fine at both ends.
std::vector<double> Sigmoid(int64_t steps) {
  constexpr double kReach = 4;
  const auto logistic = [](double t) { return 1 / (1 + std::exp(-t)); };
  const double low = logistic(-kReach);
  std::vector<double> betas = Linear(steps);
  for (double& beta : betas) beta = (logistic(kReach * (2 * beta - 1)) - low) / (1 - 2 * low);
  betas.front() = 0;
  betas.back() = 1;
  return betas;
}

// The standard deviation of U0 - U.
double MeasureSpeed(const Chains& chains) {
  double sum = 0;
  double squares = 0;
  for (int64_t chain = 0; chain < chains.count; ++chain) {
    const double difference = chains.base_energies[chain] - chains.energies[chain];
    sum += difference;
    squares += difference * difference;
  }
  const auto n = static_cast<double>(chains.count);
  return std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
}

// The length of the path in the Fisher metric at equidistant points: its speed at beta is the standard
// deviation of U0 - U there. Steps of equal length minimise the variance of the estimate (Gelman and Meng
// 1998).
std::vector<double> PathLength(const EnergyPath& target, const AnnealingOptions& options) {
  constexpr int64_t kPilotSteps = 128;
  constexpr int64_t kPilotChains = 64;
  constexpr double kUniformShare = 0.1;  // a pilot may overlook a narrow peak
  const uint64_t seed = RandomStream(options.seed, kPilotPurpose, 0, 0).Next64();
  Chains chains = StartChains(target, kPilotChains, seed);
  const auto sampler = MakeAnnealingSampler(target, options);
  std::vector<double> length = {0};
  double speed = MeasureSpeed(chains);
  for (int64_t k = 1; k <= kPilotSteps; ++k) {
    chains.betas.assign(chains.count, static_cast<double>(k) / kPilotSteps);
    sampler->Step(chains, 1);
    const double next_speed = MeasureSpeed(chains);
    length.push_back(length.back() + (speed + next_speed) / (2 * kPilotSteps));
    speed = next_speed;
  }
  const double uniform = std::max(kUniformShare * length.back(), 1e-12);
  for (int64_t k = 0; k <= kPilotSteps; ++k) length[k] += uniform * static_cast<double>(k) / kPilotSteps;
  return length;
}

std::vector<double> Adaptive(const EnergyPath& target, const AnnealingOptions& options) {
  const std::vector<double> length = PathLength(target, options);
  const auto points = static_cast<double>(length.size() - 1);
  std::vector<double> betas = Linear(options.temperatures);
  size_t cell = 0;
  for (double& beta : betas) {
    const double wanted = beta * length.back();
    while (cell + 2 < length.size() && length[cell + 1] < wanted) ++cell;
    const double within = (wanted - length[cell]) / (length[cell + 1] - length[cell]);
    beta = (static_cast<double>(cell) + within) / points;
  }
  betas.front() = 0;
  betas.back() = 1;
  return betas;
}

}  // namespace

std::vector<double> AnnealingTemperatures(const EnergyPath& target, const AnnealingOptions& options) {
  CheckOptions(options);
  switch (options.spacing) {
    case Spacing::kLinear:
      return Linear(options.temperatures);
    case Spacing::kSigmoid:
      return Sigmoid(options.temperatures);
    case Spacing::kAdaptive:
      return Adaptive(target, options);
  }
  return {};
}

}  // namespace ort_ed
