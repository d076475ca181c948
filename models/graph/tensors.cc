#include "models/graph/tensors.h"

#include <utility>

#include <onnx/onnx_pb.h>

namespace ort_ed {
namespace {

using onnx::TensorProto;

class TensorVisitor {
 public:
  explicit TensorVisitor(const std::function<void(const TensorProto&)>& visit) : visit_(visit) {}

  void Graph(const onnx::GraphProto& graph) const {
    for (const auto& tensor : graph.initializer()) visit_(tensor);
    for (const auto& sparse : graph.sparse_initializer()) Sparse(sparse);
    Nodes(graph.node());
  }

  template <typename Repeated>
  void Nodes(const Repeated& nodes) const {
    for (const auto& node : nodes)
      for (const auto& attribute : node.attribute()) Attribute(attribute);
  }

 private:
  void Attribute(const onnx::AttributeProto& attribute) const {
    if (attribute.has_t()) visit_(attribute.t());
    if (attribute.has_sparse_tensor()) Sparse(attribute.sparse_tensor());
    if (attribute.has_g()) Graph(attribute.g());
    for (const auto& tensor : attribute.tensors()) visit_(tensor);
    for (const auto& sparse : attribute.sparse_tensors()) Sparse(sparse);
    for (const auto& graph : attribute.graphs()) Graph(graph);
  }

  // What is missing is protobuf's one default tensor, which belongs to nobody.
  void Sparse(const onnx::SparseTensorProto& sparse) const {
    if (sparse.has_values()) visit_(sparse.values());
    if (sparse.has_indices()) visit_(sparse.indices());
  }

  const std::function<void(const TensorProto&)>& visit_;
};

}  // namespace

void VisitTensors(const onnx::ModelProto& model, const std::function<void(const TensorProto&)>& visit) {
  const TensorVisitor visitor(visit);
  visitor.Graph(model.graph());
  for (const auto& function : model.functions()) visitor.Nodes(function.node());
}

// Protobuf's nested access is either all const or all mutable; the model itself is not const here.
void VisitTensors(onnx::ModelProto& model, const std::function<void(TensorProto&)>& visit) {
  VisitTensors(std::as_const(model),
               [&](const TensorProto& tensor) { visit(const_cast<TensorProto&>(tensor)); });
}

int64_t ElementBits(int32_t type) {
  switch (type) {
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 32;
    case TensorProto::DOUBLE:
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::COMPLEX64:
      return 64;
    case TensorProto::COMPLEX128:
      return 128;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return 16;
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      return 8;
    default:
      return 0;
  }
}

}  // namespace ort_ed
