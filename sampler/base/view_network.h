#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ort_ed/base_distribution.h"
#include "sampler/base/lanes.h"

namespace ort_ed {

// The part of an autoregressive network that looks at the pixels around each one with weights that all pixels
// share: positions are pixels, row by row. Features of a pixel are computed once, when all it sees is known.
class ViewNetwork {
 public:
  // Throws kInvalidArgument for shapes that do not fit, values that are not finite, and weights of pixels
  // that come later.
  explicit ViewNetwork(const ViewTensors& tensors);

  int64_t pixels() const { return height_ * width_; }

  // What is known of a block of rows.
  class Block {
   public:
    Block() = default;
    explicit Block(const ViewNetwork& network);

   private:
    friend class ViewNetwork;
    std::vector<std::vector<Lanes>> seen_;  // what each residual block sees: [pixel][feature]
    std::vector<Lanes> features_, inner_, active_, gathered_;  // of the pixel at hand
  };

  // The first pixel whose features count for the log odds from `position` on.
  int64_t FirstNeeded(int64_t position) const;

  // The features of a pixel by the values x of those before it; the features of earlier ones, from
  // FirstNeeded() on, must be known.
  void ComputeFeatures(const Lanes* x, int64_t position, Block& block) const;
  // Adds what the features just computed say of the log odds.
  void AddLogOdds(Block& block, Lanes& log_odds) const;

  // Adds to slopes what dU0/dx gets through this part, where pulls[p] = dU0 / d log odds of pixel p.
  void AddGradient(const Lanes* x, const std::vector<Lanes>& pulls, std::vector<Lanes>& slopes) const;

 private:
  // A convolution, with the weights of what is seen only; taps outside the image count nothing.
  struct Layer {
    struct Tap {
      int64_t rows, columns;  // from the pixel: not below it, and not to its right in its own row
    };
    int64_t inputs, outputs;
    std::vector<Tap> taps;
    std::vector<float> weight;  // [output][tap][input]
    std::vector<float> bias;

    int64_t depth() const { return std::ssize(taps) * inputs; }
  };
  struct ResidualBlock {
    Layer conv, mix;
  };
  // What the gradient needs of all pixels: [pixel][feature] before each block and after the last, and within.
  struct Trace {
    std::vector<std::vector<Lanes>> features, inner;
  };

  static Layer MakeLayer(const ViewTensors::Layer& tensors, const std::string& name, int64_t inputs,
                         int64_t height, int64_t width, bool own);
  void Compute(const Lanes* x, int64_t position, Block& block, Trace* trace) const;
  // Calls visit(tap, pixel) for what a layer sees of the image.
  template <typename Visit>
  void VisitSources(const Layer& layer, int64_t position, const Visit& visit) const;
  void Gather(const Layer& layer, const Lanes* from, int64_t position, std::vector<Lanes>& gathered) const;
  void Apply(const Layer& layer, const Lanes* gathered, Lanes* results) const;
  void Swish(const Lanes* x, int64_t count, Lanes* results) const;
  // pulls *= swish'(x)
  void PullThroughSwish(const std::vector<Lanes>& x, std::vector<Lanes>& pulls) const;
  // to += transposed layer * from, all pixels
  void PullThrough(const Layer& layer, const std::vector<Lanes>& from, std::vector<Lanes>& to) const;

  const LaneKernels& kernels_ = BestLaneKernels();
  int64_t height_, width_, maps_;
  Layer view_, output_;
  std::vector<float> places_;  // [pixel][feature]
  std::vector<ResidualBlock> blocks_;
};

}  // namespace ort_ed
