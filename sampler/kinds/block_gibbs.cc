#include <bit>
#include <cmath>
#include <limits>

#include "ort_ed/random.h"
#include "runtime/support/parallel_for.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/sampler_kinds.h"
#include "sampler/kinds/scan_options.h"

namespace ort_ed {
namespace {

constexpr uint32_t kBlockGibbsPurpose = 0x424C4B47;  // "BLKG"
constexpr int64_t kBatchRows = 16384;

// The states of one block of one chain: bit k of a pattern is the value of sites[k].
struct Block {
  int64_t chain;
  std::span<const int32_t> sites;
  uint32_t current;                        // pattern of the chain's state
  std::vector<double> energies;            // U with each pattern
  std::vector<double> base_energies = {};  // U0, but for a constant

  uint32_t patterns() const { return 1u << sites.size(); }
};

void SetPattern(const Block& block, uint32_t pattern, float* row) {
  for (size_t k = 0; k < block.sites.size(); ++k) row[block.sites[k]] = static_cast<float>(pattern >> k & 1);
}

// Redraws a block of coordinates from its conditional distribution, all 2^block states enumerated. Blocks are
// runs of each chain's free coordinates.
class BlockGibbs final : public Sampler {
 public:
  struct Options {
    ScanOptions scan;
    int block = 4;
    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::scan);
      declare("block", &Options::block, "[1, " + std::to_string(kMaxBlock) + "]",
              "coordinates updated together");
    }
  };

  BlockGibbs(const EnergyPath& target, const Options& options, int threads)
      : target_(target),
        independent_(target.base->independent()),
        scan_(options.scan),
        block_(options.block),
        threads_(threads) {}

  void Step(Chains& chains, int64_t steps) override { Run(chains, steps, false); }
  void StepReversed(Chains& chains, int64_t steps) override { Run(chains, steps, true); }

 private:
  int64_t BlockCount(int64_t sites) const { return (sites + block_ - 1) / block_; }

  void Run(Chains& chains, int64_t steps, bool backwards) {
    chains.gradients.clear();
    chains.base_gradients.clear();
    const FreeSites free(chains);
    const int64_t updates = scan_.updates > 0 ? scan_.updates : BlockCount(free.most());
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

  RandomStream StartRandom(const Chains& chains, uint64_t step, int64_t chain) const {
    return {chains.seed, kBlockGibbsPurpose, step, chains.first_chain + chain};
  }

  // Each chain by itself, many at a time.
  template <typename Position>
  void RunQuadratic(Chains& chains, const FreeSites& free, int64_t steps, int64_t updates,
                    const Position& position) {
    std::vector<StepCounters> counters(chains.count);
    const double work = 5.0 * static_cast<double>((chains.count * steps * updates) << block_);
    ParallelFor(threads_, chains.count, work, [&](int64_t chain) {
      if (free.of(chain).empty()) return;
      for (uint64_t step = chains.step; step < chains.step + steps; ++step) {
        RandomStream random = StartRandom(chains, step, chain);
        for (int64_t update = 0; update < updates; ++update) {
          Block block = ChooseBlock(chains, chain, free.of(chain), position(step, update), random);
          EnumerateQuadratic(chains, block, counters[chain]);
          Draw(chains, block, random, counters[chain]);
        }
      }
    });
    for (const StepCounters& of_chain : counters) chains.counters += of_chain;
  }

  // All chains together, so that the model is given many rows at once.
  template <typename Position>
  void RunTogether(Chains& chains, const FreeSites& free, int64_t steps, int64_t updates,
                   const Position& position) {
    for (uint64_t step = chains.step; step < chains.step + steps; ++step) {
      std::vector<RandomStream> random;
      for (int64_t chain = 0; chain < chains.count; ++chain)
        random.push_back(StartRandom(chains, step, chain));
      for (int64_t update = 0; update < updates; ++update)
        Update(chains, free, position(step, update), random);
    }
  }

  void Update(Chains& chains, const FreeSites& free, uint64_t position, std::vector<RandomStream>& random) {
    const int64_t at_once = std::max<int64_t>(1, kBatchRows >> block_);
    for (int64_t first = 0; first < chains.count; first += at_once) {
      std::vector<Block> blocks;
      for (int64_t chain = first; chain < std::min(chains.count, first + at_once); ++chain)
        if (!free.of(chain).empty())
          blocks.push_back(ChooseBlock(chains, chain, free.of(chain), position, random[chain]));
      Enumerate(chains, blocks);
      for (const Block& block : blocks) Draw(chains, block, random[block.chain], chains.counters);
    }
  }

  Block ChooseBlock(const Chains& chains, int64_t chain, std::span<const int32_t> sites, uint64_t position,
                    RandomStream& random) const {
    const uint64_t count = BlockCount(std::ssize(sites));
    const uint64_t which =
        scan_.scan == Scan::kRandom ? random.Below(static_cast<uint32_t>(count)) : position % count;
    const size_t begin = which * block_;
    Block block{chain, sites.subspan(begin, std::min<size_t>(block_, sites.size() - begin)), 0, {}};
    for (size_t k = 0; k < block.sites.size(); ++k)
      block.current |= static_cast<uint32_t>(chains.state(chain)[block.sites[k]]) << k;
    block.energies.resize(block.patterns());
    block.energies[block.current] = chains.energies[chain];
    block.base_energies.resize(block.patterns());
    if (independent_ != nullptr) {
      for (uint32_t pattern = 0; pattern < block.patterns(); ++pattern)
        block.base_energies[pattern] = IndependentEnergy(block, pattern);
    } else {
      block.base_energies[block.current] = chains.base_energies[chain];
    }
    return block;
  }

  double IndependentEnergy(const Block& block, uint32_t pattern) const {
    double energy = 0;
    for (size_t k = 0; k < block.sites.size(); ++k)
      if ((pattern >> k & 1) != 0) energy += independent_->fields()[block.sites[k]];
    return energy;
  }

  void Enumerate(Chains& chains, std::vector<Block>& blocks) {
    rows_.clear();
    for (const Block& block : blocks) {
      const std::span<const float> state = chains.state(block.chain);
      for (uint32_t pattern = 0; pattern < block.patterns(); ++pattern) {
        if (pattern == block.current) continue;
        rows_.insert(rows_.end(), state.begin(), state.end());
        SetPattern(block, pattern, rows_.data() + rows_.size() - state.size());
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

  void Distribute(std::vector<Block>& blocks, std::vector<double> Block::*to) const {
    const double* next = energies_.data();
    for (Block& block : blocks)
      for (uint32_t pattern = 0; pattern < block.patterns(); ++pattern)
        if (pattern != block.current) (block.*to)[pattern] = *next++;
  }

  // With the local field of each site (the rest of the block at 0) and the couplings inside the block, a
  // pattern costs one addition for each of its bits.
  void EnumerateQuadratic(const Chains& chains, Block& block, StepCounters& counters) const {
    const QuadraticEnergy& energy = *target_.quadratic();
    const std::span<const float> state = chains.state(block.chain);
    const size_t size = block.sites.size();
    std::vector<double> fields(size);
    std::vector<double> inside(size * size);
    for (size_t k = 0; k < size; ++k) {
      fields[k] = energy.fields()[block.sites[k]];
      for (const auto& [site, coupling] : energy.neighbours(block.sites[k])) {
        const auto found = std::find(block.sites.begin(), block.sites.end(), site);
        if (found == block.sites.end()) {
          fields[k] += coupling * state[site];
        } else {
          inside[k * size + (found - block.sites.begin())] = coupling;
        }
      }
    }
    std::vector<double> relative(block.patterns());
    for (uint32_t pattern = 1; pattern < block.patterns(); ++pattern) {
      const uint32_t rest = pattern & (pattern - 1);
      const size_t k = std::countr_zero(pattern);
      relative[pattern] = relative[rest] + fields[k];
      for (size_t l = k + 1; l < size; ++l)
        if ((rest >> l & 1) != 0) relative[pattern] += inside[k * size + l];
    }
    const double origin = block.energies[block.current] - relative[block.current];
    for (uint32_t pattern = 0; pattern < block.patterns(); ++pattern)
      if (pattern != block.current) block.energies[pattern] = origin + relative[pattern];
    counters.energy_evaluations += block.patterns() - 1;
  }

  void Draw(Chains& chains, const Block& block, RandomStream& random, StepCounters& counters) const {
    const double beta = chains.betas[block.chain];
    std::vector<double> weights(block.patterns());
    double lowest = std::numeric_limits<double>::infinity();
    for (uint32_t pattern = 0; pattern < block.patterns(); ++pattern) {
      weights[pattern] = (1 - beta) * block.base_energies[pattern] + beta * block.energies[pattern];
      lowest = std::min(lowest, weights[pattern]);
    }
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(lowest - weight);
    double rest = random.UniformDouble() * total;
    uint32_t drawn = 0;
    while (drawn + 1 < block.patterns() && rest >= weights[drawn]) rest -= weights[drawn++];

    ++counters.proposals;
    if (drawn == block.current) return;
    ++counters.acceptances;
    counters.bits_flipped += std::popcount(drawn ^ block.current);
    SetPattern(block, drawn, chains.state(block.chain).data());
    chains.energies[block.chain] = block.energies[drawn];
    chains.base_energies[block.chain] += block.base_energies[drawn] - block.base_energies[block.current];
  }

  EnergyPath target_;
  const BernoulliBase* independent_;  // null: the base is something else
  ScanOptions scan_;
  int block_;
  int threads_;
  std::vector<float> rows_;
  std::vector<double> energies_;
};

}  // namespace

extern const SamplerKind kBlockGibbsSampler =
    MakeSamplerKind<BlockGibbs>("block-gibbs", "a block of coordinates at a time, all its states enumerated");

}  // namespace ort_ed
