#include "trainer/graph/part_initialisers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "models/graph/model_edits.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/graph_names.h"

namespace ort_ed {
namespace {

bool IsOneNumber(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT || ElementCount(tensor) == 0) return false;
  const auto equal_to_first = [](const auto& values) {
    return !values.empty() &&
           std::ranges::all_of(values, [&](const auto& value) { return value == values[0]; });
  };
  if (!tensor.has_raw_data()) return equal_to_first(tensor.float_data());
  const std::string& bytes = tensor.raw_data();
  constexpr size_t kSize = sizeof(float);
  for (size_t i = kSize; i < bytes.size(); i += kSize)
    if (bytes.compare(i, kSize, bytes, 0, kSize) != 0) return false;
  return true;
}

std::map<std::string, int> CountReads(const onnx::GraphProto& graph) {
  std::map<std::string, int> reads;
  for (const auto& node : graph.node())
    for (const std::string& tensor : TensorsRead(node)) ++reads[tensor];
  return reads;
}

std::set<std::string> Outputs(const onnx::GraphProto& graph) {
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  return outputs;
}

// Whether input i of a node is what layers of that kind have for themselves, and start as ones or zeros.
bool IsOwnOfLayer(const onnx::NodeProto& node, int i) {
  static const std::map<std::string, std::set<int>> kOwn = {{"LayerNormalization", {1, 2}},
                                                            {"RMSNormalization", {1}},
                                                            {"GroupNormalization", {1, 2}},
                                                            {"InstanceNormalization", {1, 2}},
                                                            {"BatchNormalization", {1, 2}},
                                                            {"Conv", {2}},
                                                            {"ConvTranspose", {2}},
                                                            {"Gemm", {2}},
                                                            {"Add", {0, 1}},
                                                            {"PRelu", {1}}};
  const auto own = kOwn.find(node.op_type());
  return IsStandardDomain(node.domain()) && own != kOwn.end() && own->second.contains(i);
}

// Layers that are used twice share what is not equal by chance.
bool HasTies(const onnx::GraphProto& graph, const std::map<std::string, int>& reads) {
  return std::ranges::any_of(graph.initializer(), [&](const onnx::TensorProto& tensor) {
    const auto found = reads.find(tensor.name());
    return tensor.data_type() == onnx::TensorProto::FLOAT && ElementCount(tensor) > 1 &&
           found != reads.end() && found->second > 1 && !IsOneNumber(tensor);
  });
}

// The first reader keeps the name.
void PartLayers(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, int> reads = CountReads(graph);
  if (HasTies(graph, reads)) return;
  GraphNames names(model);
  for (int k = graph.node_size() - 1; k >= 0; --k) {
    onnx::NodeProto& node = *graph.mutable_node(k);
    for (int i = 0; i < node.input_size(); ++i) {
      const std::string name = node.input(i);
      if (!IsOwnOfLayer(node, i) || reads[name] < 2) continue;
      const onnx::TensorProto* shared = FindInitialiser(model, name);
      if (shared == nullptr || ElementCount(*shared) < 2 || !IsOneNumber(*shared)) continue;
      onnx::TensorProto own = *shared;
      own.set_name(names.Fresh(name));
      node.set_input(i, own.name());
      *graph.add_initializer() = std::move(own);
      --reads[name];
    }
  }
}

}  // namespace

void PartInitialisers(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, int> reads = CountReads(graph);
  const std::set<std::string> outputs = Outputs(graph);
  const auto part = [&](const onnx::NodeProto& node) {
    if (node.op_type() != "Identity" || !IsStandardDomain(node.domain())) return false;
    if (reads[node.input(0)] < 2 || outputs.contains(node.output(0))) return false;
    const onnx::TensorProto* shared = FindInitialiser(model, node.input(0));
    if (shared == nullptr || !IsOneNumber(*shared)) return false;
    onnx::TensorProto own = *shared;
    own.set_name(node.output(0));
    *graph.add_initializer() = std::move(own);
    --reads[node.input(0)];
    return true;
  };
  auto& nodes = *graph.mutable_node();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), part), nodes.end());
  PartLayers(model);
}

}  // namespace ort_ed
