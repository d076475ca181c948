#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

struct EmittedModel {
  std::string name;
  onnx::ModelProto model;  // every node has a name of its own
};

// Graphs with every node that the rules, the expansions, the objectives and the optimisers emit: the test
// cases of all rules and expansions with their gradients, and the graphs of trainings.
std::vector<EmittedModel> EmittedModels();

// What a provider has kernels by: an operator, the version that defines it, the types of its inputs.
struct NodeKind {
  std::string op;
  int64_t version = 0;              // where the linked onnx library does not know the opset, the opset
  std::vector<std::string> inputs;  // "float", "int64", ...; "" for one that is left out
  auto operator<=>(const NodeKind&) const = default;
};

// "float, int64": the types of its inputs, one after another the same as one.
std::string DifferentTypes(const NodeKind& node);

// Of each node of the graph itself, in its order; ONNX Runtime infers the types.
std::vector<NodeKind> NodeKinds(const onnx::ModelProto& model);

}  // namespace ort_ed
