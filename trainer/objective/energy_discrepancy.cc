// The stabilised energy discrepancy (the paper, section 3):
//   mean_i log(w omega_i + sum_j omega_ij exp(U(x_i) - U(x_ij))) - log M, where omega = 1 without weights.
//
// Choosing w. With w = 1 the loss is that of picking the positive x_i out of the 1 + M candidates x_i, x_ij:
// for sampled negatives its minimiser is the data distribution whatever M is, where other w only get there as
// M grows. An exact enumeration has the positive among its negatives already, and w = 0 is right.

#include <cmath>

#include "trainer/negatives/contrastive_batch.h"
#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

// A row of 1 + M values, the first for the positive.
Value Row(GraphBuilder& graph, int64_t negatives, float positive, float others) {
  std::vector<float> values(static_cast<size_t>(1 + negatives), others);
  values[0] = positive;
  return graph.Constant(std::vector<int64_t>{1, 1 + negatives}, values);
}

class EnergyDiscrepancy final : public Objective {
 public:
  struct Options {
    double w = 1;
    static void Describe(Declare<Options>& declare) {
      declare("w", &Options::w, "[0, inf)", "stabilisation of the loss")
          .Default("1; 0 where all negatives are enumerated, the row among them");
    }
  };

  explicit EnergyDiscrepancy(const Options& options) : w_(options.w) {}

  // With candidate 0 the positive itself and t_j = U_0 - U_j + log omega_j (+ log w for j = 0), the loss of a
  // group is L = log sum_j exp(t_j) - log M. With s = softmax(t), dL/dU_j = -s_j for the negatives and, since
  // U_0 cancels in t_0, dL/dU_0 = sum of the other s_j.
  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    GraphBuilder& graph = *groups.energies.graph;
    const int64_t m = groups.negatives;
    const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + m});
    const std::vector<Value> split = EmitSplit(u, 1, std::vector<int64_t>{1, m});
    const Value &positive = split[0], &negatives = split[1];

    Value t = positive - u;
    if (!groups.log_weights.name.empty()) t = t + groups.log_weights;
    if (w_ != 1) t = t + Row(graph, m, w_ > 0 ? static_cast<float>(std::log(w_)) : kLogOfZero, 0);
    const Value largest = ReduceMax(t, {1}, true);
    const Value exponentials = Exp(t - largest);
    const Value sum = ReduceSum(exponentials, {1}, true);
    const Value group_loss = largest + Log(sum) - static_cast<float>(std::log(static_cast<double>(m)));

    const Value pull = exponentials * Row(graph, m, 0, 1) / sum * groups.group_weight;
    const Value c = ReduceSum(pull, {1}, true) * Row(graph, m, 1, 0) - pull;

    const auto total = [](const Value& value) {
      return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
    };
    const Value losses =
        Op("Concat", {total(group_loss), total(positive), total(negatives) / static_cast<float>(m)},
           {{"axis", int64_t{0}}}) *
        groups.group_weight;
    return {losses, Op("Reshape", {c, Op("Shape", {groups.energies})})};
  }

 private:
  double w_;
};

}  // namespace

extern const ObjectiveKind kEnergyDiscrepancyObjective;
const ObjectiveKind kEnergyDiscrepancyObjective = MakeObjectiveKind<EnergyDiscrepancy>(
    "energy-discrepancy", "energies of data against energies of perturbed data, without sampling");

}  // namespace ort_ed
