#include "sampler/kinds/gradient_sampler.h"

#include <algorithm>
#include <cmath>

#include "runtime/support/parallel_for.h"
#include "sampler/hamming.h"

namespace ort_ed {
namespace {

// A quadratic energy and its gradient follow from flips for so many steps, then rounding is cleared away.
constexpr uint64_t kRefreshSteps = 256;

}  // namespace

size_t DrawWeighted(std::span<const double> weights, double total, RandomStream& random) {
  double rest = random.UniformDouble() * total;
  size_t drawn = 0;
  while (drawn + 1 < weights.size() && rest >= weights[drawn]) rest -= weights[drawn++];
  while (weights[drawn] == 0 && drawn > 0) --drawn;  // rounding may lead past the last that can be drawn
  return drawn;
}

void GradientSampler::Step(Chains& chains, int64_t steps) {
  const FreeSites free(chains, variables_);
  moves_.resize(chains.count, Move{RandomStream(0, 0, 0, 0), {}, {}, 0});
  states_.resize(chains.states.size());
  energies_.resize(chains.count);
  base_energies_.resize(chains.count);
  gradients_.resize(chains.states.size());
  if (independent_ == nullptr) base_gradients_.resize(chains.states.size());
  const double work = 20.0 * static_cast<double>(chains.states.size());
  for (int64_t step = 0; step < steps; ++step, ++chains.step) {
    const bool refresh = target_.quadratic() != nullptr && chains.step % kRefreshSteps == 0;
    const bool base_known = independent_ != nullptr || !chains.base_gradients.empty();
    if (chains.gradients.empty() || !base_known || refresh) EvaluateStates(chains);
    ParallelFor(threads_, chains.count, work, [&](int64_t chain) { Propose(chains, free, chain); });
    EvaluateProposals(chains);
    std::vector<uint8_t> accepted(chains.count, 1);
    if (metropolis_) {
      ParallelFor(threads_, chains.count, work,
                  [&](int64_t chain) { accepted[chain] = Accept(chains, free, chain) ? 1 : 0; });
    }
    chains.counters.proposals += chains.count;
    for (int64_t chain = 0; chain < chains.count; ++chain)
      if (accepted[chain] != 0) Take(chains, chain);
  }
}

void GradientSampler::CountEvaluations(Chains& chains) const {
  const bool of_neighbours = by_differences_ && target_.quadratic() == nullptr;
  chains.counters.energy_evaluations += chains.count * (of_neighbours ? 1 + chains.dimension : 1);
  if (!by_differences_) chains.counters.gradient_evaluations += chains.count;
}

void GradientSampler::EvaluateStates(Chains& chains) const {
  chains.gradients.resize(chains.states.size());
  target_.energy->EnergyAndGradient(chains.states, chains.energies, chains.gradients);
  if (independent_ == nullptr) {
    chains.base_gradients.resize(chains.states.size());
    target_.base->EnergyAndGradient(chains.states, chains.base_energies, chains.base_gradients);
  }
  CountEvaluations(chains);
}

void GradientSampler::Gains(double beta, std::span<const int32_t> sites, const float* state,
                            const float* gradient, const float* base_gradient,
                            std::vector<double>& gains) const {
  gains.resize(sites.size());
  for (size_t k = 0; k < sites.size(); ++k) {
    const int32_t site = sites[k];
    const double base = independent_ != nullptr ? independent_->fields()[site] : base_gradient[site];
    const double slope = (1 - beta) * base + beta * gradient[site];
    gains[k] = std::clamp((state[site] - 0.5) * slope, -kLargestGain, kLargestGain);
  }
}

LocalStates GradientSampler::Local(double beta, std::span<const int32_t> sites, const float* state,
                                   const float* gradient, const float* base_gradient) const {
  std::vector<double> slopes(variables_.dimension());
  for (size_t i = 0; i < slopes.size(); ++i) {
    const double base = independent_ != nullptr ? independent_->fields()[i] : base_gradient[i];
    slopes[i] = (1 - beta) * base + beta * gradient[i];
  }
  return {variables_, sites, state, slopes};
}

void GradientSampler::Propose(const Chains& chains, const FreeSites& free, int64_t chain) {
  const std::span<const int32_t> sites = free.of(chain);
  Move& move = moves_[chain];
  move.random = RandomStream(chains.seed, purpose_, chains.step, chains.first_chain + chain);
  move.flips.clear();
  move.changes.clear();
  move.log_forward = 0;
  const int64_t offset = chain * chains.dimension;
  std::copy_n(chains.states.data() + offset, chains.dimension, states_.data() + offset);
  base_energies_[chain] = chains.base_energies[chain];
  if (sites.empty()) return;
  variables_.all_binary() ? ProposeFlips(chains, sites, chain) : ProposeChanges(chains, sites, chain);
}

void GradientSampler::ProposeFlips(const Chains& chains, std::span<const int32_t> sites, int64_t chain) {
  const int64_t offset = chain * chains.dimension;
  Move& move = moves_[chain];
  std::vector<double> gains;
  Gains(chains.betas[chain], sites, chains.states.data() + offset, chains.gradients.data() + offset,
        chains.base_gradients.data() + offset, gains);
  move.log_forward = proposal_.flips->Propose(gains, move.random, move.flips);
  float* state = states_.data() + offset;
  for (const int32_t flip : move.flips) {
    const int32_t site = sites[flip];
    state[site] = 1 - state[site];
    if (independent_ != nullptr)
      base_energies_[chain] += (2 * state[site] - 1) * independent_->fields()[site];
  }
}

void GradientSampler::ProposeChanges(const Chains& chains, std::span<const int32_t> sites, int64_t chain) {
  const int64_t offset = chain * chains.dimension;
  Move& move = moves_[chain];
  const LocalStates local = Local(chains.betas[chain], sites, chains.states.data() + offset,
                                  chains.gradients.data() + offset, chains.base_gradients.data() + offset);
  move.log_forward = proposal_.changes->Propose(local, move.random, move.changes);
  float* state = states_.data() + offset;
  for (const StateChange& change : move.changes) {
    const int32_t variable = local.variable_of(change.to);
    variables_.SetState(state, sites[variable], change.to - local.first(variable));
  }
  if (independent_ != nullptr)
    base_energies_[chain] = independent_->Energy({state, static_cast<size_t>(chains.dimension)});
}

void GradientSampler::EvaluateProposals(Chains& chains) {
  CountEvaluations(chains);
  if (target_.quadratic() == nullptr) {
    target_.energy->EnergyAndGradient(states_, energies_, gradients_);
    if (independent_ == nullptr) target_.base->EnergyAndGradient(states_, base_energies_, base_gradients_);
    return;
  }
  const double work = 2.0 * static_cast<double>(chains.states.size());
  ParallelFor(threads_, chains.count, work, [&](int64_t chain) { FollowFlips(chains, chain); });
}

void GradientSampler::FollowFlips(const Chains& chains, int64_t chain) {
  const QuadraticEnergy& energy = *target_.energy->quadratic();
  const int64_t offset = chain * chains.dimension;
  const float* before = chains.states.data() + offset;
  const float* after = states_.data() + offset;
  float* gradient = gradients_.data() + offset;
  std::copy_n(chains.gradients.data() + offset, chains.dimension, gradient);
  energies_[chain] = chains.energies[chain];
  for (int64_t site = 0; site < chains.dimension; ++site) {
    const float change = after[site] - before[site];
    if (change == 0) continue;
    energies_[chain] += change * gradient[site];
    for (const auto& [neighbour, coupling] : energy.neighbours(site))
      gradient[neighbour] += change * coupling;
  }
}

double GradientSampler::LogReverse(const Chains& chains, std::span<const int32_t> sites,
                                   int64_t chain) const {
  const int64_t offset = chain * chains.dimension;
  const double beta = chains.betas[chain];
  const float *state = states_.data() + offset, *gradient = gradients_.data() + offset,
              *base_gradient = base_gradients_.data() + offset;
  const Move& move = moves_[chain];
  if (!variables_.all_binary())
    return proposal_.changes->LogReverse(Local(beta, sites, state, gradient, base_gradient), move.changes);
  std::vector<double> gains;
  Gains(beta, sites, state, gradient, base_gradient, gains);
  return proposal_.flips->LogReverse(gains, move.flips);
}

bool GradientSampler::Accept(const Chains& chains, const FreeSites& free, int64_t chain) {
  Move& move = moves_[chain];
  if (move.flips.empty() && move.changes.empty()) return true;
  const double beta = chains.betas[chain];
  const double log_reverse = LogReverse(chains, free.of(chain), chain);
  const double gain = (1 - beta) * (chains.base_energies[chain] - base_energies_[chain]) +
                      beta * (chains.energies[chain] - energies_[chain]);
  return std::log(move.random.UniformDouble()) < gain + log_reverse - move.log_forward;
}

void GradientSampler::Take(Chains& chains, int64_t chain) const {
  ++chains.counters.acceptances;
  const int64_t offset = chain * chains.dimension;
  const int64_t distance =
      HammingDistance(variables_, states_.data() + offset, chains.states.data() + offset);
  if (distance == 0) return;
  ++chains.counters.moves;
  chains.counters.bits_flipped += distance;
  std::copy_n(states_.data() + offset, chains.dimension, chains.states.data() + offset);
  std::copy_n(gradients_.data() + offset, chains.dimension, chains.gradients.data() + offset);
  if (independent_ == nullptr)
    std::copy_n(base_gradients_.data() + offset, chains.dimension, chains.base_gradients.data() + offset);
  chains.energies[chain] = energies_[chain];
  chains.base_energies[chain] = base_energies_[chain];
}

}  // namespace ort_ed
