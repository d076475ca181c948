#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// The tensors of a graph that nothing changes: Constant nodes, and initialisers but those of floating point,
// which may be trained. The graph must outlive it as it is.
class ConstantValues {
 public:
  explicit ConstantValues(const onnx::GraphProto& graph);

  bool Contains(const std::string& tensor) const;
  // Its whole numbers; nothing where it is no constant of int64, int32 or bool.
  std::optional<std::vector<int64_t>> Ints(const std::string& tensor) const;

 private:
  std::map<std::string, const onnx::TensorProto*> tensors_;
  std::map<std::string, std::vector<int64_t>> lists_;  // Constant nodes with plain numbers
  std::map<std::string, bool> others_;                 // Constant nodes of floats and of texts
};

// The node becomes a Constant of its output 0.
void MakeConstant(onnx::NodeProto& node, const onnx::TensorProto& value);

}  // namespace ort_ed
