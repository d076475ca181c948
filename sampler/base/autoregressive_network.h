#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "ort_ed/random.h"
#include "sampler/base/lanes.h"
#include "sampler/base/view_network.h"

namespace ort_ed {

// A masked autoencoder with its variables in the order in which they are drawn, position by position, and its
// matrices as the kernels read them: the weights of what a unit sees lie side by side. The bits of a variable
// with more than two states are one position; "slots" number all bits in the order of their positions.
class AutoregressiveNetwork {
 public:
  // Throws kInvalidArgument, see AutoregressiveBase.
  explicit AutoregressiveNetwork(const AutoregressiveTensors& tensors);

  int64_t dimension() const { return variables_.dimension(); }
  int64_t positions() const { return std::ssize(order_); }
  std::span<const int32_t> order() const { return order_; }
  const Variables& variables() const { return variables_; }

  // What is known of a block of rows.
  struct Block {
    explicit Block(const AutoregressiveNetwork& network);
    std::vector<Lanes> x;                    // of each slot
    std::vector<std::vector<Lanes>> before;  // of each layer's units: their inputs ...
    std::vector<std::vector<Lanes>> after;   // ... and what they make of them
    std::vector<Lanes> scores;  // of each slot: log odds of a binary variable, log p of another's states
    ViewNetwork::Block view;
    int64_t first_features = 0;  // the first position whose features of the view are wanted
  };

  void Load(std::span<const float> row, int64_t lane, Block& block) const;
  void Store(const Block& block, int64_t lane, std::span<float> row) const;

  // No scores of positions before this one will be asked for.
  void SkipTo(int64_t position, Block& block) const;
  // Computes the hidden units that see positions up to `position` - 1 and no less; those of earlier positions
  // must be known.
  void FinishUnits(int64_t position, Block& block) const;
  // The scores of a position, whose units must be known.
  void ComputeScores(int64_t position, Block& block) const;
  // -log p of what stands at a position whose scores are known; linear between the states.
  double Surprise(int64_t position, int64_t lane, const Block& block) const;
  // Draws what stands there.
  void Draw(int64_t position, int64_t lane, RandomStream& random, Block& block) const;
  // dU0/dx, where everything of the block is known.
  std::vector<Lanes> Gradient(const Block& block) const;

 private:
  struct Layer {
    int64_t units;
    std::vector<float> weight;         // units x inputs
    std::vector<float> bias;           // units
    std::vector<int64_t> final_units;  // before each position (and after the last): how many
  };

  const Lanes* Inputs(const Block& block, size_t layer) const {
    return layer == 0 ? block.x.data() : block.after[layer - 1].data();
  }
  int64_t InputsSeen(size_t layer, int64_t position) const {
    return layer == 0 ? first_slots_[position] : hidden_[layer - 1].final_units[position];
  }
  void ReadTensors(const AutoregressiveTensors& tensors);
  bool IsBinary(int64_t position) const { return variables_.bits(order_[position]) == 1; }
  void Normalise(int64_t position, Block& block) const;

  const LaneKernels& kernels_ = BestLaneKernels();
  Variables variables_;
  std::vector<int32_t> order_;
  std::vector<int64_t> first_slots_;       // of each position, and the number of all
  std::vector<int32_t> bits_, positions_;  // of each slot
  std::vector<Layer> hidden_;
  Layer output_;               // its units are the slots
  std::vector<float> direct_;  // slots x slots
  std::optional<ViewNetwork> view_;
};

}  // namespace ort_ed
