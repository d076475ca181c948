// Maximum likelihood of normalised networks, whose energies are -log q, on rows that have weights:
//   mean_i omega_i U(x_i).
// Groups are single rows, without negatives.

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class WeightedLikelihood final : public Objective {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };
  explicit WeightedLikelihood(const Options&) {}

  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    const std::vector<int64_t> one_by_one = {-1, 1};
    const Value u = Reshape(groups.energies, one_by_one);
    const Value c = Exp(groups.log_weights) * groups.group_weight;
    const auto total = [](const Value& value) {
      return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
    };
    const Value mean = total(u) * groups.group_weight;
    return {Op("Concat", {total(u * c), mean, mean}, {{"axis", int64_t{0}}}),
            Op("Reshape", {c, Op("Shape", {groups.energies})})};
  }
};

}  // namespace

extern const ObjectiveKind kWeightedLikelihoodObjective;
const ObjectiveKind kWeightedLikelihoodObjective = ForPolicies(
    MakeObjectiveKind<WeightedLikelihood>("weighted-likelihood", "likelihood of rows that have weights"));

}  // namespace ort_ed
