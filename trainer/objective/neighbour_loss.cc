#include "trainer/objective/neighbour_loss.h"

namespace ort_ed {

// dL/dU_j = -omega_j f'(D_j) for the negatives, and minus their sum for the positive.
ObjectiveNodes NeighbourLoss::Emit(const GroupEnergies& groups) const {
  const int64_t m = groups.negatives;
  const std::vector<int64_t> sizes = {1, m};
  const Value u = Reshape(groups.energies, std::vector<int64_t>{-1, 1 + m});
  const std::vector<Value> energies = EmitSplit(u, 1, sizes);
  auto [value, derivative] = EmitTerm(energies[0] - energies[1]);
  if (!groups.log_weights.name.empty()) {
    const Value omega = Exp(EmitSplit(groups.log_weights, 1, sizes)[1]);
    value = value * omega;
    derivative = derivative * omega;
  }
  const auto total = [](const Value& each) {
    return ReduceSum(Reshape(each, std::vector<int64_t>{-1}), {0}, true);
  };
  const Value losses =
      Op("Concat", {total(value), total(energies[0]), total(energies[1]) / static_cast<float>(m)},
         {{"axis", int64_t{0}}}) *
      groups.group_weight;
  const Value c = Op("Concat", {ReduceSum(derivative, {1}, true), -derivative}, {{"axis", int64_t{1}}});
  return {losses, Op("Reshape", {c * groups.group_weight, Op("Shape", {groups.energies})})};
}

}  // namespace ort_ed
