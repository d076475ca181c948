#include "trainer/graph/fold/inline_branches.h"

#include <map>
#include <string>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/fold/constant_values.h"
#include "trainer/graph/graph_names.h"

namespace ort_ed {
namespace {

using Renaming = std::map<std::string, std::string>;
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

void Rename(std::string& name, const Renaming& renaming) {
  if (const auto found = renaming.find(name); found != renaming.end()) name = found->second;
}

void Rename(onnx::NodeProto& node, const Renaming& renaming);

void Rename(onnx::GraphProto& graph, const Renaming& renaming) {
  for (auto& node : *graph.mutable_node()) Rename(node, renaming);
  for (auto& output : *graph.mutable_output()) Rename(*output.mutable_name(), renaming);
}

void Rename(onnx::NodeProto& node, const Renaming& renaming) {
  for (auto& input : *node.mutable_input()) Rename(input, renaming);
  for (auto& output : *node.mutable_output()) Rename(output, renaming);
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.has_g()) Rename(*attribute.mutable_g(), renaming);
}

// What the branch makes gets names of its own in the graph outside.
Renaming FreshNames(const onnx::GraphProto& branch, GraphNames& names) {
  Renaming renaming;
  for (const auto& tensor : branch.initializer()) renaming[tensor.name()] = names.Fresh(tensor.name());
  for (const auto& node : branch.node())
    for (const auto& output : node.output())
      if (!output.empty()) renaming[output] = names.Fresh(output);
  return renaming;
}

void Inline(onnx::GraphProto branch, const onnx::NodeProto& node, GraphNames& names, onnx::GraphProto& graph,
            Nodes& nodes) {
  const Renaming renaming = FreshNames(branch, names);
  for (auto& tensor : *branch.mutable_initializer()) {
    Rename(*tensor.mutable_name(), renaming);
    *graph.add_initializer() = tensor;
  }
  Rename(branch, renaming);
  for (const auto& inner : branch.node()) *nodes.Add() = inner;
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    onnx::NodeProto& identity = *nodes.Add();
    identity.set_op_type("Identity");
    identity.add_input(branch.output(i).name());
    identity.add_output(node.output(i));
  }
}

const onnx::GraphProto* KnownBranch(const onnx::NodeProto& node, const ConstantValues& constants) {
  if (node.op_type() != "If" || !IsStandardDomain(node.domain()) || node.input_size() != 1) return nullptr;
  const auto condition = constants.Ints(node.input(0));
  if (!condition || condition->size() != 1) return nullptr;
  const auto* branch = FindAttribute(node, (*condition)[0] != 0 ? "then_branch" : "else_branch");
  return branch != nullptr && branch->g().output_size() >= node.output_size() ? &branch->g() : nullptr;
}

}  // namespace

bool InlineKnownBranches(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  GraphNames names(model);
  Nodes nodes;
  bool any = false;
  {
    const ConstantValues constants(graph);
    for (const auto& node : graph.node()) {
      const onnx::GraphProto* branch = KnownBranch(node, constants);
      if (branch == nullptr) {
        *nodes.Add() = node;
        continue;
      }
      Inline(*branch, node, names, graph, nodes);
      any = true;
    }
  }
  if (any) graph.mutable_node()->Swap(&nodes);
  return any;
}

}  // namespace ort_ed
