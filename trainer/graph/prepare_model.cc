#include "trainer/graph/prepare_model.h"

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <vector>

#include "models/graph/graph_builder.h"
#include "ort_ed/error.h"
#include "trainer/graph/fold/fold_constants.h"
#include "trainer/graph/inline_functions.h"
#include "trainer/graph/keep_rows.h"
#include "trainer/graph/part_initialisers.h"
#include "trainer/graph/raise_opset.h"
#include "trainer/graph/tidy_model.h"

namespace ort_ed {
namespace {

std::atomic<int64_t> preparations = 0;

// Models of IR version 3 list every initialiser as an input.
void RemoveInitializersFromInputs(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::unordered_set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  auto& inputs = *graph.mutable_input();
  const auto kept = std::stable_partition(
      inputs.begin(), inputs.end(),
      [&](const onnx::ValueInfoProto& input) { return initializers.count(input.name()) == 0; });
  inputs.DeleteSubrange(static_cast<int>(kept - inputs.begin()), static_cast<int>(inputs.end() - kept));
  model.set_ir_version(std::max<int64_t>(model.ir_version(), GraphBuilder::kIrVersion));
}

}  // namespace

PreparedModel Prepare(onnx::ModelProto model, const std::string& name) {
  PrepareForDifferentiation(model);
  EnergyContract contract = CheckContract(model, name);
  return {std::move(model), std::move(contract)};
}

void PrepareForDifferentiation(onnx::ModelProto& model) {
  ++preparations;
  TidyModel(model);
  RaiseOpset(model);
  InlineFunctions(model);
  RemoveInitializersFromInputs(model);
  SortNodes(model);
  PartInitialisers(model);
  FoldConstants(model);
  KeepRows(model);
}

int64_t PreparationCount() { return preparations; }

}  // namespace ort_ed
