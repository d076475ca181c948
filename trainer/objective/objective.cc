#include "trainer/objective/objective.h"

namespace ort_ed {

KindTable ObjectiveTable() { return ListKinds(ObjectiveKinds()); }

std::unique_ptr<Objective> MakeObjective(const Choice& objective) {
  const std::vector<ChosenKind> chosen = Resolve(objective, ObjectiveTable(), "objective");
  return ObjectiveKinds()[chosen.front().row]->make(chosen.front().options);
}

std::vector<Value> EmitSplit(const Value& value, int64_t axis, std::span<const int64_t> sizes) {
  GraphBuilder& graph = *value.graph;
  const int outputs = static_cast<int>(sizes.size());
  return graph.NodeWithOutputs("Split", std::vector{value, graph.Ints(sizes)}, outputs, {{"axis", axis}});
}

}  // namespace ort_ed
