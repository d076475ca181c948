#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/random.h"
#include "sampler/kinds/free_sites.h"
#include "sampler/kinds/sampler_kinds.h"
#include "sampler/kinds/scan_options.h"

namespace ort_ed {

// The free variables of each chain, cut into runs of at most `most_variables` that have at most 2^kMaxBlock
// states together; one variable may have more.
class FreeBlocks {
 public:
  FreeBlocks(const FreeSites& free, int64_t chains, const Variables& variables, int most_variables);

  int64_t count(int64_t chain) const { return static_cast<int64_t>(of(chain).size()); }
  std::span<const int32_t> block(int64_t chain, int64_t which) const { return of(chain)[which]; }
  int64_t most() const { return most_; }                // blocks of any chain
  int64_t most_states() const { return most_states_; }  // of any block

 private:
  const std::vector<std::span<const int32_t>>& of(int64_t chain) const {
    return blocks_[blocks_.size() == 1 ? 0 : chain];
  }

  std::vector<std::vector<std::span<const int32_t>>> blocks_;
  int64_t most_ = 0;
  int64_t most_states_ = 1;
};

// Redraws a block of variables from its conditional distribution, all its states enumerated. A block of one
// is Gibbs sampling. An RBM's blocks are, where nothing else is said, its variables and its units.
class BlockGibbs final : public Sampler {
 public:
  struct Options {
    ScanOptions scan;
    std::optional<int> block = {};
    static void Describe(Declare<Options>& declare) {
      declare.All(&Options::scan);
      declare("block", &Options::block, "[1, " + std::to_string(kMaxBlock) + "]",
              "variables updated together; fewer where they have more than " +
                  std::to_string(1 << kMaxBlock) + " states")
          .Default("4, or of an RBM all of them, given its hidden units");
    }
  };

  BlockGibbs(const EnergyPath& target, const Options& options, int threads);
  // With random numbers of another purpose.
  BlockGibbs(const EnergyPath& target, const Options& options, int threads, uint32_t purpose);

  void Step(Chains& chains, int64_t steps) override { Run(chains, steps, false); }
  void StepReversed(Chains& chains, int64_t steps) override { Run(chains, steps, true); }

 private:
  // The states of one block of one chain, numbered with the state of the first variable running fastest.
  struct Block {
    int64_t chain;
    std::span<const int32_t> sites;
    uint32_t current = 0;                    // that the chain is in
    std::vector<double> energies = {};       // U with each of them
    std::vector<double> base_energies = {};  // U0, but for a constant

    uint32_t states() const { return static_cast<uint32_t>(energies.size()); }
  };

  void Run(Chains& chains, int64_t steps, bool backwards);
  RandomStream StartRandom(const Chains& chains, uint64_t step, int64_t chain) const {
    return {chains.seed, purpose_, step, chains.first_chain + chain};
  }
  template <typename Position>
  void RunQuadratic(Chains& chains, const FreeBlocks& free, int64_t steps, int64_t updates,
                    const Position& position);
  template <typename Position>
  void RunTogether(Chains& chains, const FreeBlocks& free, int64_t steps, int64_t updates,
                   const Position& position);
  void Update(Chains& chains, const FreeBlocks& free, uint64_t position, std::vector<RandomStream>& random);

  Block ChooseBlock(const Chains& chains, int64_t chain, const FreeBlocks& free, uint64_t position,
                    RandomStream& random) const;
  std::vector<double> IndependentEnergies(const Block& block) const;
  void SetState(const Block& block, uint32_t state, float* row) const;
  int64_t CountChanges(const Block& block, uint32_t state) const;
  void Enumerate(Chains& chains, std::vector<Block>& blocks);
  void Distribute(std::vector<Block>& blocks, std::vector<double> Block::*to) const;
  void EnumerateQuadratic(const Chains& chains, Block& block, StepCounters& counters) const;
  void Draw(Chains& chains, const Block& block, RandomStream& random, StepCounters& counters) const;

  EnergyPath target_;
  Variables variables_;
  const ProductBase* independent_;  // null: the base is something else
  ScanOptions scan_;
  int block_;
  bool layers_;  // an RBM's
  int threads_;
  uint32_t purpose_;
  std::vector<float> rows_;
  std::vector<double> energies_;
};

}  // namespace ort_ed
