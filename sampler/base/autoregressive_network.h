#pragma once

#include <cstdint>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "sampler/base/lanes.h"
#include "sampler/base/window_network.h"

namespace ort_ed {

// A masked autoencoder with its variables in the order in which they are drawn, position by position, and its
// matrices as the kernels read them: the weights of what a unit sees lie side by side.
class AutoregressiveNetwork {
 public:
  // Throws kInvalidArgument, see AutoregressiveBase.
  explicit AutoregressiveNetwork(const AutoregressiveTensors& tensors);

  int64_t dimension() const { return std::ssize(order_); }
  std::span<const int32_t> order() const { return order_; }

  // What is known of a block of rows.
  struct Block {
    explicit Block(const AutoregressiveNetwork& network);
    std::vector<Lanes> x;                    // of each position
    std::vector<std::vector<Lanes>> before;  // of each layer's units: their inputs ...
    std::vector<std::vector<Lanes>> after;   // ... and what they make of them
    std::vector<Lanes> log_odds;             // of each position
    WindowNetwork::Block window;
    int64_t first_features = 0;  // the first position whose features of the window are wanted
  };

  void Load(std::span<const float> row, int64_t lane, Block& block) const;
  void Store(const Block& block, int64_t lane, std::span<float> row) const;

  // No log odds of positions before this one will be asked for.
  void SkipTo(int64_t position, Block& block) const;
  // Computes the hidden units that see positions up to `position` - 1 and no less; those of earlier positions
  // must be known.
  void FinishUnits(int64_t position, Block& block) const;
  // The log odds of a position, whose units must be known.
  void ComputeLogOdds(int64_t position, Block& block) const;
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
    return layer == 0 ? position : hidden_[layer - 1].final_units[position];
  }

  const LaneKernels& kernels_ = BestLaneKernels();
  std::vector<int32_t> order_;
  std::vector<Layer> hidden_;
  Layer output_;               // its units are the positions
  std::vector<float> direct_;  // positions x positions
  std::optional<WindowNetwork> window_;
};

}  // namespace ort_ed
