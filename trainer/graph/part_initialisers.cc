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
}

}  // namespace ort_ed
