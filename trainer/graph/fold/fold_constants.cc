#include "trainer/graph/fold/fold_constants.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "models/graph/standard_domain.h"
#include "models/graph/tensors.h"
#include "runtime/session.h"
#include "trainer/graph/fold/constant_values.h"
#include "trainer/graph/fold/inline_bodies.h"
#include "trainer/graph/fold/known_shapes.h"
#include "trainer/graph/fold/resolve_sequences.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {
namespace {

constexpr int64_t kLongestFolded = 256;  // of a list; tables are left to ONNX Runtime

bool IsRandom(const onnx::NodeProto& node) {
  return node.op_type().starts_with("Random") || node.op_type() == "Bernoulli" ||
         node.op_type() == "Multinomial";
}

bool HasSubgraph(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const auto& attribute) { return attribute.has_g(); });
}

// Nodes that read constants alone, one after the other.
std::vector<int> FoldableNodes(const onnx::GraphProto& graph) {
  const ConstantValues constants(graph);
  std::set<std::string> folded;
  const auto is_constant = [&](const std::string& tensor) {
    return tensor.empty() || constants.Contains(tensor) || folded.contains(tensor);
  };
  std::vector<int> nodes;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (!IsStandardDomain(node.domain()) || node.input_size() == 0 || IsRandom(node) || HasSubgraph(node))
      continue;
    if (!std::ranges::all_of(node.input(), is_constant)) continue;
    nodes.push_back(i);
    folded.insert(node.output().begin(), node.output().end());
  }
  return nodes;
}

// Results that are known to be small; the nodes that depend on others are left out.
std::vector<int> SmallOnes(const onnx::GraphProto& graph, const std::vector<int>& nodes,
                           const TensorInfos& infos) {
  std::set<std::string> large;
  std::vector<int> small;
  for (const int i : nodes) {
    const onnx::NodeProto& node = graph.node(i);
    const auto is_large = [&](const std::string& tensor) {
      const auto info = infos.find(tensor);
      if (info == infos.end() || !info->second.has_rank || info->second.unknown_extents() > 0) return true;
      if (ElementBits(info->second.type) < 8 || info->second.rank() > 1) return true;
      return info->second.rank() == 1 && info->second.shape[0].value > kLongestFolded;
    };
    const bool reads_large =
        std::ranges::any_of(node.input(), [&](const auto& tensor) { return large.contains(tensor); });
    if (reads_large || std::ranges::any_of(node.output(), is_large)) {
      large.insert(node.output().begin(), node.output().end());
    } else {
      small.push_back(i);
    }
  }
  return small;
}

onnx::TensorProto ToProto(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  onnx::TensorProto tensor;
  tensor.set_data_type(static_cast<int32_t>(info.GetElementType()));
  for (const int64_t extent : info.GetShape()) tensor.add_dims(extent);
  const auto bytes = info.GetElementCount() * static_cast<size_t>(ElementBits(tensor.data_type()) / 8);
  if (bytes > 0) {
    tensor.set_raw_data(value.GetTensorRawData(), bytes);
  } else {
    tensor.set_raw_data("");
  }
  return tensor;
}

using Results = std::map<std::string, onnx::TensorProto>;

// The nodes by themselves, with the constants that they read.
onnx::ModelProto Excerpt(const onnx::ModelProto& model, const std::vector<int>& nodes) {
  onnx::ModelProto excerpt;
  excerpt.set_ir_version(model.ir_version());
  *excerpt.mutable_opset_import() = model.opset_import();
  onnx::GraphProto& graph = *excerpt.mutable_graph();
  graph.set_name("constants");
  std::set<std::string> read;
  for (const int i : nodes)
    read.insert(model.graph().node(i).input().begin(), model.graph().node(i).input().end());
  for (const auto& tensor : model.graph().initializer())
    if (read.contains(tensor.name())) *graph.add_initializer() = tensor;
  for (const auto& node : model.graph().node())
    if (node.op_type() == "Constant" && read.contains(node.output(0))) *graph.add_node() = node;
  for (const int i : nodes) {
    *graph.add_node() = model.graph().node(i);
    for (const auto& output : model.graph().node(i).output())
      if (!output.empty()) graph.add_output()->set_name(output);
  }
  return excerpt;
}

// Empty where ONNX Runtime cannot: it will say so where the model runs.
Results Compute(const onnx::ModelProto& excerpt) {
  Results results;
  std::vector<const char*> names;
  for (const auto& output : excerpt.graph().output()) names.push_back(output.name().c_str());
  try {
    Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    const std::string bytes = excerpt.SerializeAsString();
    Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, "the model");
    const auto values = session.Run({}, nullptr, nullptr, 0, names.data(), names.size());
    for (size_t i = 0; i < names.size(); ++i)
      if (values[i].IsTensor()) results[names[i]] = ToProto(values[i]);
  } catch (const Ort::Exception& error) {
    if (IsOutOfMemory(error)) throw std::bad_alloc();
    results.clear();
  } catch (const Error&) {
    results.clear();
  }
  return results;
}

// Nodes whose outputs all have results go, and what others read of them comes from Constant nodes.
void Replace(onnx::GraphProto& graph, const std::vector<int>& nodes, const Results& results) {
  std::set<int> folded(nodes.begin(), nodes.end());
  std::set<std::string> read;
  for (const auto& output : graph.output()) read.insert(output.name());
  for (int i = 0; i < graph.node_size(); ++i)
    if (!folded.contains(i))
      for (const std::string& tensor : TensorsRead(graph.node(i))) read.insert(tensor);
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (!folded.contains(i)) {
      *kept.Add() = graph.node(i);
      continue;
    }
    for (const auto& output : graph.node(i).output()) {
      if (!read.contains(output)) continue;
      onnx::NodeProto& constant = *kept.Add();
      constant.set_name(graph.node(i).name());
      constant.add_output(output);
      MakeConstant(constant, results.at(output));
    }
  }
  graph.mutable_node()->Swap(&kept);
}

// False where there is nothing to fold.
bool FoldOnce(onnx::ModelProto& model) {
  FixKnownShapes(model);
  std::vector<int> nodes = FoldableNodes(model.graph());
  if (nodes.empty()) return false;
  nodes = SmallOnes(model.graph(), nodes, InferShapes(model));
  if (nodes.empty()) return false;
  const onnx::ModelProto excerpt = Excerpt(model, nodes);
  const Results results = Compute(excerpt);
  if (static_cast<int>(results.size()) != excerpt.graph().output_size()) return false;
  Replace(*model.mutable_graph(), nodes, results);
  return true;
}

void FoldAll(onnx::ModelProto& model) {
  // What is folded may tell the extents of the next: those of a Range are its numbers.
  do
    while (FoldOnce(model)) continue;
  while (InlineBodies(model) || ResolveSequences(model));
}

}  // namespace

void FoldConstants(onnx::ModelProto& model) {
  FoldAll(model);
  if (model.graph().output_size() == 0 || std::ranges::none_of(model.graph().node(), HasSubgraph)) return;
  // A condition may follow from extents that only a run tells.
  FixKnownShapes(model, model.graph().output(0).name());
  FoldAll(model);
}

}  // namespace ort_ed
