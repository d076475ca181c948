// Concrete score matching (Meng et al. 2022) for single changes: f(D) = exp(2 D) - 2 exp(-D), the squared
// distance of the ratios exp(D) of the model from those of the data, but for a constant. For a pair with
// probabilities a and b the loss a f(D) + b f(-D) is lowest where exp(D) = b / a.
//
// Where a neighbour never occurs (b = 0) it has no lower bound, and exp(2 D) weighs rare rows by the square
// of a ratio. The clip C ends both: f is constant below -C, and linear above C. What is pushed apart by more
// than C is pushed no further, and what is too far apart the wrong way comes back at a bounded pace: the
// minimum has ratios b / a between exp(-C) and exp(C) as they are and all others at that limit.

#include <cmath>

#include "trainer/objective/neighbour_loss.h"

namespace ort_ed {
namespace {

class ConcreteScore final : public NeighbourLoss {
 public:
  struct Options {
    double ratio_clip = 4;
    static void Describe(Declare<Options>& declare) {
      declare("ratio_clip", &Options::ratio_clip, "(0, 20]",
              "largest logarithm of the ratio of two neighbours' probabilities that is learned");
    }
  };
  explicit ConcreteScore(const Options& options) : clip_(static_cast<float>(options.ratio_clip)) {}

 protected:
  Term EmitTerm(const Value& difference) const override {
    GraphBuilder& graph = *difference.graph;
    const Value inside = Op("Clip", {difference, graph.Scalar(-clip_), graph.Scalar(clip_)});
    const Value beyond = Op("Relu", {difference - clip_});
    const Value up = Exp(inside * 2.0f), down = Exp(-inside);
    const float steepest = 2 * (std::exp(2 * clip_) + std::exp(-clip_));
    const Value pulls = Op("Cast", {Op("Greater", {difference, graph.Scalar(-clip_)})},
                           {{"to", int64_t{graph.float_type()}}});
    return {up - down * 2.0f + beyond * steepest, (up + down) * 2.0f * pulls};
  }

 private:
  float clip_;
};

}  // namespace

extern const ObjectiveKind kConcreteScoreObjective;
const ObjectiveKind kConcreteScoreObjective = MakeObjectiveKind<ConcreteScore>(
    "concrete-score", "ratios of neighbours' probabilities, by squared error, clipped");

}  // namespace ort_ed
