// Trajectory balance (Malkin et al. 2022): the rows of a group are the states of one path of a policy, their
// "energies" and log weights sum up to
//   delta = log Z + log P_F(path) - log P_B(path) - log of what the end of the path should weigh,
// and the loss is mean delta^2 / 2. It is 0 for all paths where the policy draws ends in proportion to their
// weights. Nothing is assumed of how paths were chosen.

#include "trainer/objective/objective.h"

namespace ort_ed {
namespace {

class TrajectoryBalance final : public Objective {
 public:
  struct Options {
    static void Describe(Declare<Options>&) {}
  };
  explicit TrajectoryBalance(const Options&) {}

  // dL/dU_k = delta for every row of the group.
  ObjectiveNodes Emit(const GroupEnergies& groups) const override {
    const int64_t m = groups.negatives;
    const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + m});
    Value delta = ReduceSum(u, {1}, true);
    if (!groups.log_weights.name.empty()) delta = delta + ReduceSum(groups.log_weights, {1}, true);
    const std::vector<Value> split = EmitSplit(u, 1, std::vector<int64_t>{1, m});
    const auto total = [](const Value& value) {
      return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
    };
    const Value losses =
        Op("Concat", {total(delta * delta) * 0.5f, total(split[0]), total(split[1]) / static_cast<float>(m)},
           {{"axis", int64_t{0}}}) *
        groups.group_weight;
    const Value c = u * 0.0f + delta * groups.group_weight;
    return {losses, Op("Reshape", {c, Op("Shape", {groups.energies})})};
  }
};

}  // namespace

extern const ObjectiveKind kTrajectoryBalanceObjective;
const ObjectiveKind kTrajectoryBalanceObjective = ForPolicies(MakeObjectiveKind<TrajectoryBalance>(
    "trajectory-balance", "paths of a policy against the weights of their ends"));

}  // namespace ort_ed
