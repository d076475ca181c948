#include "ort_ed/chains.h"

#include <string>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

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
