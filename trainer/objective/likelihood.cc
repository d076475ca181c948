// The mean of -log p(x), for energies that are normalised: U(x) = -log p(x). There are no negatives.

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class Likelihood final : public Objective {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };

  explicit Likelihood(const Options&) {}

  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    const Value energies = Reshape(groups.energies, std::vector<int64_t>{-1});
    const Value total = ReduceSum(energies, {0}, true) * groups.group_weight;
    return {Op("Concat", {total, total, total * 0.0f}, {{"axis", int64_t{0}}}),
            groups.energies * 0.0f + groups.group_weight};
  }
};

}  // namespace

extern const ObjectiveKind kLikelihoodObjective;
const ObjectiveKind kLikelihoodObjective =
    MakeObjectiveKind<Likelihood>("likelihood", "minus the log-likelihood, of a normalised model");

}  // namespace ort_ed
