// Maximum likelihood by samples of the model (Hinton 2002): the gradient of -log p(x) is dU(x)/dtheta minus
// the mean of dU/dtheta over the model, and the negatives stand for the model:
//   mean_i (U(x_i) - mean_j U(x_ij)) + energy_l2 * mean_i (U(x_i)^2 + mean_j U(x_ij)^2).
//
// The first part has no lower bound and does not tell how good a model is: it is 0 where the negatives are
// like the data. The penalty keeps energies near 0: a small one mostly fixes the constant that the likelihood
// leaves open, and keeps a network from running away from chains that do not keep up.

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class ContrastiveDivergence final : public Objective {
 public:
  struct Options {
    double energy_l2 = 0;
    static void Describe(Declare<Options>& declare) {
      declare("energy_l2", &Options::energy_l2, "[0, inf)",
              "penalty on the squares of the energies, against divergence; 0.1 is usual");
    }
  };

  explicit ContrastiveDivergence(const Options& options) : l2_(static_cast<float>(options.energy_l2)) {}

  // With s = (1, -1/M, ..., -1/M) the loss of a group is sum_k s_k U_k + l2 |s_k| U_k^2, and its derivative
  // c_k = s_k + 2 l2 |s_k| U_k.
  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    GraphBuilder& graph = *groups.energies.graph;
    const int64_t m = groups.negatives;
    const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + m});
    const std::vector<Value> split = EmitSplit(u, 1, std::vector<int64_t>{1, m});
    const auto total = [](const Value& value) {
      return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
    };
    const Value positive = total(split[0]), negative = total(split[1]) / static_cast<float>(m);
    const Value signs = Row(graph, m, -1);
    Value loss = positive - negative;
    Value c = u * 0.0f + signs;
    if (l2_ > 0) {
      const Value pull = u * (Row(graph, m, 1) * l2_);
      loss = loss + total(u * pull);
      c = c + pull * 2.0f;
    }
    const Value losses =
        Op("Concat", {loss, positive, negative}, {{"axis", int64_t{0}}}) * groups.group_weight;
    return {losses, Op("Reshape", {c * groups.group_weight, Op("Shape", {groups.energies})})};
  }

 private:
  // 1 for the positive, the sign times 1 / M for each negative.
  static Value Row(GraphBuilder& graph, int64_t negatives, float sign) {
    std::vector<float> values(static_cast<size_t>(1 + negatives), sign / static_cast<float>(negatives));
    values[0] = 1;
    return graph.Constant(std::vector<int64_t>{1, 1 + negatives}, values);
  }

  float l2_;
};

}  // namespace

extern const ObjectiveKind kContrastiveDivergenceObjective;
const ObjectiveKind kContrastiveDivergenceObjective = MakeObjectiveKind<ContrastiveDivergence>(
    "contrastive-divergence", "energies of data against energies of samples of the model");

}  // namespace ort_ed
