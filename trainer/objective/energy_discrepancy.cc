#include "trainer/objective/energy_discrepancy.h"

#include <cmath>

#include "trainer/negatives/contrastive_batch.h"

namespace ort_ed {
namespace {

// A row of 1 + M values, the first for the positive.
Value Row(GraphBuilder& graph, int64_t negatives, float positive, float others) {
  std::vector<float> values(static_cast<size_t>(1 + negatives), others);
  values[0] = positive;
  return graph.Constant(std::vector<int64_t>{1, 1 + negatives}, values);
}

}  // namespace

// With candidate 0 the positive itself and t_j = U_0 - U_j + log omega_j (+ log w for j = 0), the loss of a
// group is L = log sum_j exp(t_j) - log M. With s = softmax(t), dL/dU_j = -s_j for the negatives and, since
// U_0 cancels in t_0, dL/dU_0 = sum of the other s_j.
EdLoss EmitEdLoss(const LossSpec& spec, const Value& energies, const Value& log_weights,
                  const Value& group_weight) {
  GraphBuilder& graph = *energies.graph;
  const int64_t m = spec.negatives;
  const Value u = Reshape(energies, std::vector<int64_t>{-1, 1 + m});
  const std::vector<Value> split = EmitSplit(u, 1, std::vector<int64_t>{1, m});
  const Value &positive = split[0], &negatives = split[1];

  Value t = positive - u;
  if (!log_weights.name.empty()) t = t + log_weights;
  const double w = spec.stabilisation;
  if (w != 1) t = t + Row(graph, m, w > 0 ? static_cast<float>(std::log(w)) : kLogOfZero, 0);
  const Value largest = ReduceMax(t, {1}, true);
  const Value exponentials = Exp(t - largest);
  const Value sum = ReduceSum(exponentials, {1}, true);
  const Value group_loss = largest + Log(sum) - static_cast<float>(std::log(static_cast<double>(m)));

  const Value pull = exponentials * Row(graph, m, 0, 1) / sum * group_weight;
  const Value c = ReduceSum(pull, {1}, true) * Row(graph, m, 1, 0) - pull;

  const auto total = [](const Value& value) {
    return ReduceSum(Reshape(value, std::vector<int64_t>{-1}), {0}, true);
  };
  const Value losses =
      Op("Concat", {total(group_loss), total(positive), total(negatives) / static_cast<float>(m)},
         {{"axis", int64_t{0}}}) *
      group_weight;
  return {losses, Op("Reshape", {c, Op("Shape", {energies})})};
}

std::vector<Value> EmitSplit(const Value& value, int64_t axis, std::span<const int64_t> sizes) {
  GraphBuilder& graph = *value.graph;
  const int outputs = static_cast<int>(sizes.size());
  return graph.NodeWithOutputs("Split", std::vector{value, graph.Ints(sizes)}, outputs, {{"axis", axis}});
}

}  // namespace ort_ed
