// The energy discrepancy where all is erased, so that every row of a step may share the negatives of all:
//   mean_i log(w + sum_j exp(U(x_i) - U(x_j))) - log N, over all N negatives x_j of the step.
// Negatives are draws of the base p0 and U is the network without it, so that the sum estimates Z of the
// model and the loss, as N grows, is minus the log-likelihood but for that of the base. With w = 1 it is that
// of picking x_i out of 1 + N candidates, whose minimiser is right for every N.

#include <cmath>

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class SharedDiscrepancy final : public Objective {
 public:
  struct Options {
    double w = 1;
    static void Describe(Declare<Options>& declare) {
      declare("w", &Options::w, "(0, inf)", "stabilisation of the loss");
    }
  };

  explicit SharedDiscrepancy(const Options& options) : log_w_(static_cast<float>(std::log(options.w))) {}

  // With s = log sum_j exp(-U_j) and d_i = U_i + s - log w the loss of a row is softplus(d_i) + log w -
  // log N, and with g = sigmoid(d) its derivatives are g_i for U_i and -softmax(-U)_j sum_i g_i for U_j.
  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + groups.negatives});
    const std::vector<Value> split = EmitSplit(u, 1, std::vector<int64_t>{1, groups.negatives});
    const Value &positive = split[0], &negatives = split[1];

    const Value lowest = Reduce("ReduceMin", negatives, std::vector<int64_t>{0, 1}, /*keep_dimensions=*/true);
    const Value exponentials = Exp(lowest - negatives);
    const Value sum = ReduceSum(exponentials, {0, 1}, true);
    const Value count = ReduceSum(negatives * 0.0f + 1.0f, {0, 1}, true);
    const Value d = positive + (Log(sum) - lowest - log_w_);
    const Value row_loss = Softplus(d) + (log_w_ - Log(count));

    const Value push = Sigmoid(d) * groups.group_weight;
    const Value pull = exponentials / sum * ReduceSum(push, {0, 1}, true);
    const Value c = Op("Concat", {push, -pull}, {{"axis", int64_t{1}}});

    const auto total = [](const Value& value) {
      return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
    };
    const Value losses =
        Op("Concat",
           {total(row_loss), total(positive), total(negatives) / static_cast<float>(groups.negatives)},
           {{"axis", int64_t{0}}}) *
        groups.group_weight;
    return {losses, Op("Reshape", {c, Op("Shape", {groups.energies})})};
  }

 private:
  float log_w_;
};

}  // namespace

extern const ObjectiveKind kSharedDiscrepancyObjective;
const ObjectiveKind kSharedDiscrepancyObjective = MakeObjectiveKind<SharedDiscrepancy>(
    "shared-discrepancy", "energies of data against energies of draws that all rows of a step share");

}  // namespace ort_ed
