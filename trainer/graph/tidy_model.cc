#include "trainer/graph/tidy_model.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"
#include "trainer/graph/graph_names.h"

namespace ort_ed {
namespace {

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

// "" where it is "ai.onnx".
template <typename Named>
void SpellDomain(Named& named) {
  if (!named.domain().empty() && IsStandardDomain(named.domain())) named.clear_domain();
}

template <typename Nodes>
void SpellDomains(Nodes& nodes) {
  for (auto& node : nodes) {
    SpellDomain(node);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) SpellDomains(*attribute.mutable_g()->mutable_node());
  }
}

}  // namespace

void SortNodes(onnx::ModelProto& model) { TopologicalOrder(*model.mutable_graph()).Sort(); }

void TidyModel(onnx::ModelProto& model) {
  for (auto& import : *model.mutable_opset_import()) SpellDomain(import);
  SpellDomains(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) {
    for (auto& import : *function.mutable_opset_import()) SpellDomain(import);
    SpellDomains(*function.mutable_node());
  }
  SortNodes(model);
}

}  // namespace ort_ed
