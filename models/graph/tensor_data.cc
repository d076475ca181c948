#include "models/graph/tensor_data.h"

#include <cstdint>

#include <onnx/onnx_pb.h>

#include "models/graph/tensors.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

using onnx::TensorProto;

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

  void Check(const TensorProto& tensor) const {
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

 private:
  [[noreturn]] void Reject(const TensorProto& tensor, const std::string& problem) const {
    throw Error(ErrorCode::kBadModel, "'" + name_ + "' is damaged: its tensor '" + tensor.name() + "' " +
                                          problem + "; copy or export it again");
  }

  const std::string& name_;
};

}  // namespace

void CheckTensorData(const onnx::ModelProto& model, const std::string& name) {
  const TensorDataCheck check(name);
  VisitTensors(model, [&](const TensorProto& tensor) { check.Check(tensor); });
}

}  // namespace ort_ed
