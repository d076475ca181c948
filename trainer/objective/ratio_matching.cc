// Ratio matching (Hyvarinen 2007) in its bounded form: f(D) = sigmoid(D)^2, the square of the probability
// that a choice between a row and its neighbour by their energies takes the neighbour. For a pair with
// probabilities a and b the loss a sigmoid(D)^2 + b sigmoid(-D)^2 is lowest where exp(D) = b / a, so that U
// is -log p up to a constant. Each term is between 0 and 1, whatever the energies are.

#include "trainer/objective/neighbour_loss.h"

namespace ort_ed {
namespace {

class RatioMatching final : public NeighbourLoss {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };
  explicit RatioMatching(const Options&) {}

 protected:
  Term EmitTerm(const Value& difference) const override {
    const Value s = Sigmoid(difference);
    const Value square = s * s;
    return {square, square * (1.0f - s) * 2.0f};
  }
};

}  // namespace

extern const ObjectiveKind kRatioMatchingObjective;
const ObjectiveKind kRatioMatchingObjective = MakeObjectiveKind<RatioMatching>(
    "ratio-matching", "a choice between each row and its neighbours, by squared error");

}  // namespace ort_ed
