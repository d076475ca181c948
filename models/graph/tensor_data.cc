#include "models/graph/tensor_data.h"

#include <cstdint>

#include <onnx/onnx_pb.h>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

using onnx::TensorProto;

// Bits of an element in raw data; 0: raw data is not for this type, or the type is not known.
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

// Entries of the typed field that holds the values.
int64_t TypedEntries(const TensorProto& tensor) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64:
      return tensor.float_data_size();
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX128:
      return tensor.double_data_size();
    case TensorProto::INT64:
      return tensor.int64_data_size();
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return tensor.uint64_data_size();
    case TensorProto::STRING:
      return tensor.string_data_size();
    default:
      return tensor.int32_data_size();
  }
}

bool IsComplex(int32_t type) { return type == TensorProto::COMPLEX64 || type == TensorProto::COMPLEX128; }

class TensorDataCheck {
 public:
  explicit TensorDataCheck(const std::string& name) : name_(name) {}

  void Graph(const onnx::GraphProto& graph) const {
    for (const auto& tensor : graph.initializer()) Tensor(tensor);
    for (const auto& sparse : graph.sparse_initializer()) Sparse(sparse);
    Nodes(graph.node());
  }

  template <typename Repeated>
  void Nodes(const Repeated& nodes) const {
    for (const auto& node : nodes) {
      for (const auto& attribute : node.attribute()) Attribute(attribute);
    }
  }

 private:
  void Attribute(const onnx::AttributeProto& attribute) const {
    if (attribute.has_t()) Tensor(attribute.t());
    if (attribute.has_sparse_tensor()) Sparse(attribute.sparse_tensor());
    if (attribute.has_g()) Graph(attribute.g());
    for (const auto& tensor : attribute.tensors()) Tensor(tensor);
    for (const auto& sparse : attribute.sparse_tensors()) Sparse(sparse);
    for (const auto& graph : attribute.graphs()) Graph(graph);
  }

  void Sparse(const onnx::SparseTensorProto& sparse) const {
    Tensor(sparse.values());
    Tensor(sparse.indices());
  }

  void Tensor(const TensorProto& tensor) const {
    if (tensor.data_location() == TensorProto::EXTERNAL) return;
    int64_t elements = 1;
    for (const int64_t extent : tensor.dims()) {
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
        Reject(tensor, "has a shape that cannot be");
    }
    const int64_t bits = ElementBits(tensor.data_type());
    if (tensor.has_raw_data()) {
      const auto bytes = static_cast<int64_t>(tensor.raw_data().size());
      if (bits > 0 && (elements > INT64_MAX / bits || bytes != elements * bits / 8))
        Reject(tensor,
               "has " + std::to_string(bytes) + " bytes for " + std::to_string(elements) + " elements");
    } else if (bits > 0 || tensor.data_type() == TensorProto::STRING) {
      const int64_t entries = TypedEntries(tensor), each = IsComplex(tensor.data_type()) ? 2 : 1;
      if (entries % each != 0 || entries / each != elements)
        Reject(tensor,
               "has " + std::to_string(entries) + " values for " + std::to_string(elements) + " elements");
    }
  }

  [[noreturn]] void Reject(const TensorProto& tensor, const std::string& problem) const {
    throw Error(ErrorCode::kBadModel, "'" + name_ + "' is damaged: its tensor '" + tensor.name() + "' " +
                                          problem + "; copy or export it again");
  }

  const std::string& name_;
};

}  // namespace

void CheckTensorData(const onnx::ModelProto& model, const std::string& name) {
  const TensorDataCheck check(name);
  check.Graph(model.graph());
  for (const auto& function : model.functions()) check.Nodes(function.node());
}

}  // namespace ort_ed
