#pragma once

#include <set>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Every name that the model uses for tensors and nodes, its functions and subgraphs included; gives out names
// that are not among them.
class GraphNames {
 public:
  explicit GraphNames(const onnx::ModelProto& model);
  std::string Fresh(const std::string& stem);

 private:
  void Collect(const onnx::GraphProto& graph);
  void Collect(const onnx::NodeProto& node);

  std::set<std::string> names_;
};

// The tensors that a node reads: its inputs and what its subgraphs take from outside (names that subgraphs
// make themselves are among them, too; no tensor outside bears them).
std::vector<std::string> TensorsRead(const onnx::NodeProto& node);

// "node 'dense_1' (Einsum)": how messages name a node.
std::string DescribeNode(const onnx::NodeProto& node);

}  // namespace ort_ed
