#include "trainer/graph/prepare_model.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/graph/graph_builder.h"
#include "ort_ed/error.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/inline_functions.h"
#include "trainer/graph/raise_opset.h"

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

class TopologicalOrder {
 public:
  explicit TopologicalOrder(onnx::GraphProto& graph) : graph_(graph), state_(graph.node_size(), kNew) {
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const auto& output : graph.node(i).output()) producer_[output] = i;
    }
    producer_.erase("");
  }

  void Sort() {
    for (int i = 0; i < graph_.node_size(); ++i) Visit(i);
    if (std::is_sorted(order_.begin(), order_.end())) return;
    google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
    for (int i : order_) *sorted.Add() = graph_.node(i);
    graph_.mutable_node()->Swap(&sorted);
  }

 private:
  enum State { kNew, kOpen, kDone };

  // Depth first with a stack of its own: a graph may be deeper than the program's stack.
  void Visit(int root) {
    std::vector<int> stack = {root};
    while (!stack.empty()) {
      const int i = stack.back();
      if (state_[i] != kNew) {
        stack.pop_back();
        if (state_[i] == kOpen) order_.push_back(i), state_[i] = kDone;
        continue;
      }
      state_[i] = kOpen;
      const std::vector<std::string> reads = TensorsRead(graph_.node(i));
      for (auto read = reads.rbegin(); read != reads.rend(); ++read) {
        const auto producer = producer_.find(*read);
        if (producer == producer_.end() || producer->second == i) continue;
        if (state_[producer->second] == kOpen) {
          throw Error(ErrorCode::kBadModel, "the graph has a cycle through the tensor '" + *read + "'.");
        }
        if (state_[producer->second] == kNew) stack.push_back(producer->second);
      }
    }
  }

  onnx::GraphProto& graph_;
  std::vector<State> state_;
  std::unordered_map<std::string, int> producer_;
  std::vector<int> order_;
};

}  // namespace

PreparedModel Prepare(onnx::ModelProto model, const std::string& name) {
  PrepareForDifferentiation(model);
  EnergyContract contract = CheckContract(model, name);
  return {std::move(model), std::move(contract)};
}

void PrepareForDifferentiation(onnx::ModelProto& model) {
  ++preparations;
  RaiseOpset(model);
  InlineFunctions(model);
  RemoveInitializersFromInputs(model);
  TopologicalOrder(*model.mutable_graph()).Sort();
}

int64_t PreparationCount() { return preparations; }

}  // namespace ort_ed
