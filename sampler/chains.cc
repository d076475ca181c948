#include "ort_ed/chains.h"

#include <algorithm>
#include <string>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

// Calls visit(of all chains, of the part) for what each chain has of its own.
template <typename Whole, typename Part, typename Visit>
void ForEachCache(Whole& whole, Part& part, Visit&& visit) {
  visit(whole.states, part.states);
  visit(whole.energies, part.energies);
  visit(whole.base_energies, part.base_energies);
  visit(whole.gradients, part.gradients);
  visit(whole.base_gradients, part.base_gradients);
  visit(whole.betas, part.betas);
  visit(whole.replicas, part.replicas);
}

template <typename T>
std::vector<T> Slice(const std::vector<T>& all, int64_t chains, int64_t first, int64_t count) {
  const int64_t each = std::ssize(all) / chains;
  return {all.begin() + first * each, all.begin() + (first + count) * each};
}

void CheckStates(const std::vector<float>& states, const Variables& variables) {
  const int64_t dimension = variables.dimension();
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i] != 0 && states[i] != 1) {
      throw Error(ErrorCode::kBadData, "the initial state of chain " + std::to_string(i / dimension) +
                                           " is " + std::to_string(states[i]) + " at variable " +
                                           std::to_string(i % dimension) + "; only 0 and 1 are states");
    }
  }
  if (variables.all_binary()) return;
  for (size_t begin = 0; begin < states.size(); begin += dimension) {
    const auto row = std::span(states).subspan(begin, dimension);
    if (const auto broken = variables.FindBroken(row))
      throw Error(ErrorCode::kBadData, "in the initial state of chain " + std::to_string(begin / dimension) +
                                           " " + variables.DescribeBroken(row, *broken));
  }
}

Chains MakeChains(const EnergyPath& target, std::vector<float> states, uint64_t seed, uint64_t first_chain) {
  Chains chains;
  chains.dimension = target.dimension();
  chains.count = static_cast<int64_t>(states.size()) / chains.dimension;
  chains.states = std::move(states);
  chains.energies.resize(chains.count);
  target.energy->Energy(chains.states, chains.energies);
  chains.counters.energy_evaluations = chains.count;
  chains.base_energies.resize(chains.count);
  target.base->Energy(chains.states, chains.base_energies);
  chains.betas.assign(chains.count, 1.0);
  chains.seed = seed;
  chains.first_chain = first_chain;
  return chains;
}

}  // namespace

StepCounters& StepCounters::operator+=(const StepCounters& other) {
  energy_evaluations += other.energy_evaluations;
  gradient_evaluations += other.gradient_evaluations;
  proposals += other.proposals;
  acceptances += other.acceptances;
  moves += other.moves;
  bits_flipped += other.bits_flipped;
  swap_proposals += other.swap_proposals;
  swap_acceptances += other.swap_acceptances;
  return *this;
}

Chains TakeChains(const Chains& whole, int64_t first, int64_t count) {
  Chains part;
  part.count = count;
  part.dimension = whole.dimension;
  part.seed = whole.seed;
  part.step = whole.step;
  part.first_chain = whole.first_chain + static_cast<uint64_t>(first);
  const bool clamps_are_shared = std::ssize(whole.clamped) == whole.dimension;
  part.clamped = clamps_are_shared ? whole.clamped : Slice(whole.clamped, whole.count, first, count);
  ForEachCache(whole, part, [&](const auto& all, auto& own) { own = Slice(all, whole.count, first, count); });
  return part;
}

void PutBackChains(Chains& whole, int64_t first, const Chains& part) {
  ForEachCache(whole, part, [&](auto& all, const auto& own) {
    const int64_t each = std::ssize(own) / part.count;
    all.resize(static_cast<size_t>(whole.count * each));
    std::ranges::copy(own, all.begin() + first * each);
  });
  whole.counters += part.counters;
  whole.step = part.step;
}

Chains StartChains(const EnergyPath& target, int64_t count, uint64_t seed, uint64_t first_chain) {
  return MakeChains(target, target.base->DrawRows(seed, first_chain, count), seed, first_chain);
}

Chains StartChainsAt(const EnergyPath& target, std::vector<float> states, uint64_t seed,
                     uint64_t first_chain) {
  if (states.empty() || states.size() % target.dimension() != 0) {
    throw Error(ErrorCode::kInvalidArgument, "initial states must be whole rows of " +
                                                 std::to_string(target.dimension()) + " values, not " +
                                                 std::to_string(states.size()) + " values");
  }
  CheckStates(states, target.variables());
  return MakeChains(target, std::move(states), seed, first_chain);
}

}  // namespace ort_ed
