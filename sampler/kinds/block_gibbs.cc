#include "sampler/kinds/block_gibbs.h"

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/support/parallel_for.h"
#include "sampler/bipartite/layer_gibbs.h"

namespace ort_ed {
namespace {

constexpr uint32_t kBlockGibbsPurpose = 0x424C4B47;  // "BLKG"
constexpr int64_t kBatchRows = 16384;
constexpr int kUsualBlock = 4;
constexpr int64_t kMaxStates = int64_t{1} << kMaxBlock;

// Takes the state of the first variable, which has `states` of them, off the number of a block's state.
uint32_t TakeFirst(uint32_t& state, int64_t states) {
  const uint32_t rest = states == 2 ? state >> 1 : state / static_cast<uint32_t>(states);
  const uint32_t first = state - rest * static_cast<uint32_t>(states);
  state = rest;
  return first;
}

}  // namespace

FreeBlocks::FreeBlocks(const FreeSites& free, int64_t chains, const Variables& variables,
                       int most_variables) {
  blocks_.resize(free.shared() ? 1 : chains);
  for (int64_t chain = 0; chain < std::ssize(blocks_); ++chain) {
    const std::span<const int32_t> sites = free.of(chain);
    for (size_t begin = 0; begin < sites.size();) {
      int64_t states = variables.states(sites[begin]);
      size_t end = begin + 1;
      for (; end < sites.size() && end < begin + most_variables; ++end) {
        if (states * variables.states(sites[end]) > kMaxStates) break;
        states *= variables.states(sites[end]);
      }
      blocks_[chain].push_back(sites.subspan(begin, end - begin));
      most_states_ = std::max(most_states_, states);
      begin = end;
    }
    most_ = std::max(most_, std::ssize(blocks_[chain]));
  }
}

BlockGibbs::BlockGibbs(const EnergyPath& target, const Options& options, int threads)
    : BlockGibbs(target, options, threads, kBlockGibbsPurpose) {}

BlockGibbs::BlockGibbs(const EnergyPath& target, const Options& options, int threads, uint32_t purpose)
    : target_(target),
      variables_(target.variables()),
      independent_(target.base->independent()),
      scan_(options.scan),
      block_(options.block.value_or(kUsualBlock)),
      layers_(!options.block && scan_.scan == Scan::kSystematic && target.bipartite() != nullptr),
      threads_(threads),
      purpose_(purpose) {}

void BlockGibbs::Run(Chains& chains, int64_t steps, bool backwards) {
  chains.gradients.clear();
  chains.base_gradients.clear();
  if (layers_) {
    LayerGibbs(target_, {scan_.updates, threads_}, chains, steps);
    return;
  }
  const FreeSites sites(chains, variables_);
  const FreeBlocks free(sites, chains.count, variables_, block_);
  const int64_t updates = scan_.updates > 0 ? scan_.updates : free.most();
  const auto position = [&](uint64_t step, int64_t update) {
    return step * updates + (backwards ? updates - 1 - update : update);
  };
  if (target_.quadratic() != nullptr) {
    RunQuadratic(chains, free, steps, updates, position);
  } else {
    RunTogether(chains, free, steps, updates, position);
  }
  chains.step += steps;
}

// Each chain by itself, many at a time.
template <typename Position>
void BlockGibbs::RunQuadratic(Chains& chains, const FreeBlocks& free, int64_t steps, int64_t updates,
                              const Position& position) {
  std::vector<StepCounters> counters(chains.count);
  const double work = 5.0 * static_cast<double>((chains.count * steps * updates) << block_);
  ParallelFor(threads_, chains.count, work, [&](int64_t chain) {
    if (free.count(chain) == 0) return;
    for (uint64_t step = chains.step; step < chains.step + steps; ++step) {
      RandomStream random = StartRandom(chains, step, chain);
      for (int64_t update = 0; update < updates; ++update) {
        Block block = ChooseBlock(chains, chain, free, position(step, update), random);
        EnumerateQuadratic(chains, block, counters[chain]);
        Draw(chains, block, random, counters[chain]);
      }
    }
  });
  for (const StepCounters& of_chain : counters) chains.counters += of_chain;
}

// All chains together, so that the model is given many rows at once.
template <typename Position>
void BlockGibbs::RunTogether(Chains& chains, const FreeBlocks& free, int64_t steps, int64_t updates,
                             const Position& position) {
  for (uint64_t step = chains.step; step < chains.step + steps; ++step) {
    std::vector<RandomStream> random;
    for (int64_t chain = 0; chain < chains.count; ++chain) random.push_back(StartRandom(chains, step, chain));
    for (int64_t update = 0; update < updates; ++update) Update(chains, free, position(step, update), random);
  }
}

void BlockGibbs::Update(Chains& chains, const FreeBlocks& free, uint64_t position,
                        std::vector<RandomStream>& random) {
  const int64_t at_once = std::max<int64_t>(1, kBatchRows / free.most_states());
  for (int64_t first = 0; first < chains.count; first += at_once) {
    std::vector<Block> blocks;
    for (int64_t chain = first; chain < std::min(chains.count, first + at_once); ++chain)
      if (free.count(chain) > 0) blocks.push_back(ChooseBlock(chains, chain, free, position, random[chain]));
    Enumerate(chains, blocks);
    for (const Block& block : blocks) Draw(chains, block, random[block.chain], chains.counters);
  }
}

BlockGibbs::Block BlockGibbs::ChooseBlock(const Chains& chains, int64_t chain, const FreeBlocks& free,
                                          uint64_t position, RandomStream& random) const {
  const uint64_t count = free.count(chain);
  const uint64_t which =
      scan_.scan == Scan::kRandom ? random.Below(static_cast<uint32_t>(count)) : position % count;
  Block block{.chain = chain, .sites = free.block(chain, which)};
  uint32_t states = 1;
  for (const int32_t site : block.sites) {
    block.current += states * static_cast<uint32_t>(variables_.State(chains.state(chain).data(), site));
    states *= static_cast<uint32_t>(variables_.states(site));
  }
  block.energies.resize(states);
  block.energies[block.current] = chains.energies[chain];
  if (independent_ != nullptr) {
    block.base_energies = IndependentEnergies(block);
  } else {
    block.base_energies.resize(states);
    block.base_energies[block.current] = chains.base_energies[chain];
  }
  return block;
}

// Variable by variable: all states of those before it with each of its own.
std::vector<double> BlockGibbs::IndependentEnergies(const Block& block) const {
  std::vector<double> energies(block.states());
  uint32_t before = 1;
  for (const int32_t site : block.sites) {
    const double* fields = independent_->fields().data() + variables_.first_bit(site);
    const auto states = static_cast<uint32_t>(variables_.states(site));
    const uint32_t without_field = states - static_cast<uint32_t>(variables_.bits(site));  // 0 of a bit
    for (uint32_t state = states; state-- > without_field;)
      for (uint32_t i = 0; i < before; ++i)
        energies[state * before + i] = energies[i] + fields[state - without_field];
    before *= states;
  }
  return energies;
}

void BlockGibbs::SetState(const Block& block, uint32_t state, float* row) const {
  for (const int32_t site : block.sites)
    variables_.SetState(row, site, TakeFirst(state, variables_.states(site)));
}

// Variables that change on the way from the current state.
int64_t BlockGibbs::CountChanges(const Block& block, uint32_t state) const {
  int64_t changes = 0;
  uint32_t current = block.current;
  for (const int32_t site : block.sites) {
    const int64_t states = variables_.states(site);
    changes += TakeFirst(state, states) != TakeFirst(current, states) ? 1 : 0;
  }
  return changes;
}

void BlockGibbs::Enumerate(Chains& chains, std::vector<Block>& blocks) {
  rows_.clear();
  for (const Block& block : blocks) {
    const std::span<const float> row = chains.state(block.chain);
    for (uint32_t state = 0; state < block.states(); ++state) {
      if (state == block.current) continue;
      rows_.insert(rows_.end(), row.begin(), row.end());
      SetState(block, state, rows_.data() + rows_.size() - row.size());
    }
  }
  energies_.resize(rows_.size() / chains.dimension);
  target_.energy->Energy(rows_, energies_);
  chains.counters.energy_evaluations += std::ssize(energies_);
  Distribute(blocks, &Block::energies);
  if (independent_ != nullptr) return;
  target_.base->Energy(rows_, energies_);
  Distribute(blocks, &Block::base_energies);
}

void BlockGibbs::Distribute(std::vector<Block>& blocks, std::vector<double> Block::*to) const {
  const double* next = energies_.data();
  for (Block& block : blocks)
    for (uint32_t state = 0; state < block.states(); ++state)
      if (state != block.current) (block.*to)[state] = *next++;
}

// Of binary variables. With the local field of each (the rest of the block at 0) and the couplings inside the
// block, a state costs one addition for each of its ones.
void BlockGibbs::EnumerateQuadratic(const Chains& chains, Block& block, StepCounters& counters) const {
  const QuadraticEnergy& energy = *target_.quadratic();
  const std::span<const float> row = chains.state(block.chain);
  const size_t size = block.sites.size();
  std::vector<double> fields(size);
  std::vector<double> inside(size * size);
  for (size_t k = 0; k < size; ++k) {
    fields[k] = energy.fields()[block.sites[k]];
    for (const auto& [site, coupling] : energy.neighbours(block.sites[k])) {
      const auto found = std::find(block.sites.begin(), block.sites.end(), site);
      if (found == block.sites.end()) {
        fields[k] += coupling * row[site];
      } else {
        inside[k * size + (found - block.sites.begin())] = coupling;
      }
    }
  }
  std::vector<double> relative(block.states());
  for (uint32_t state = 1; state < block.states(); ++state) {
    const uint32_t rest = state & (state - 1);
    const size_t k = std::countr_zero(state);
    relative[state] = relative[rest] + fields[k];
    for (size_t l = k + 1; l < size; ++l)
      if ((rest >> l & 1) != 0) relative[state] += inside[k * size + l];
  }
  const double origin = block.energies[block.current] - relative[block.current];
  for (uint32_t state = 0; state < block.states(); ++state)
    if (state != block.current) block.energies[state] = origin + relative[state];
  counters.energy_evaluations += block.states() - 1;
}

void BlockGibbs::Draw(Chains& chains, const Block& block, RandomStream& random,
                      StepCounters& counters) const {
  const double beta = chains.betas[block.chain];
  std::vector<double> weights(block.states());
  double lowest = std::numeric_limits<double>::infinity();
  for (uint32_t state = 0; state < block.states(); ++state) {
    weights[state] = (1 - beta) * block.base_energies[state] + beta * block.energies[state];
    lowest = std::min(lowest, weights[state]);
  }
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(lowest - weight);
  double rest = random.UniformDouble() * total;
  uint32_t drawn = 0;
  while (drawn + 1 < block.states() && rest >= weights[drawn]) rest -= weights[drawn++];

  ++counters.proposals;
  ++counters.acceptances;
  if (drawn == block.current) return;
  ++counters.moves;
  counters.bits_flipped += CountChanges(block, drawn);
  SetState(block, drawn, chains.state(block.chain).data());
  chains.energies[block.chain] = block.energies[drawn];
  chains.base_energies[block.chain] += block.base_energies[drawn] - block.base_energies[block.current];
}

extern const SamplerKind kBlockGibbsSampler =
    MakeSamplerKind<BlockGibbs>("block-gibbs", "a block of variables at a time, all its states enumerated");

}  // namespace ort_ed
