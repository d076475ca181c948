#include "models/graph/external_data.h"

#include <fstream>
#include <functional>
#include <map>

#include <onnx/onnx_pb.h>

#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;
using TensorVisitor = std::function<void(onnx::TensorProto&)>;

void VisitTensors(onnx::GraphProto& graph, const TensorVisitor& visit);

void VisitSparse(onnx::SparseTensorProto& sparse, const TensorVisitor& visit) {
  visit(*sparse.mutable_values());
  visit(*sparse.mutable_indices());
}

template <typename Nodes>
void VisitNodes(Nodes& nodes, const TensorVisitor& visit) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) visit(*attribute.mutable_t());
      for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
      if (attribute.has_sparse_tensor()) VisitSparse(*attribute.mutable_sparse_tensor(), visit);
      for (auto& sparse : *attribute.mutable_sparse_tensors()) VisitSparse(sparse, visit);
      if (attribute.has_g()) VisitTensors(*attribute.mutable_g(), visit);
      for (auto& graph : *attribute.mutable_graphs()) VisitTensors(graph, visit);
    }
  }
}

void VisitTensors(onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& sparse : *graph.mutable_sparse_initializer()) VisitSparse(sparse, visit);
  VisitNodes(*graph.mutable_node(), visit);
}

void VisitExternalTensors(onnx::ModelProto& model, const TensorVisitor& visit) {
  const TensorVisitor visit_external = [&](onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) visit(tensor);
  };
  VisitTensors(*model.mutable_graph(), visit_external);
  for (auto& function : *model.mutable_functions()) VisitNodes(*function.mutable_node(), visit_external);
}

// Where the bytes of one tensor are and what to say when they are not.
class ExternalTensor {
 public:
  ExternalTensor(const onnx::TensorProto& tensor, const std::string& model) : tensor_(tensor), model_(model) {
    for (const auto& entry : tensor.external_data()) entries_[entry.key()] = entry.value();
  }

  fs::path Location() const { return entries_.contains("location") ? entries_.at("location") : ""; }

  // A count of bytes, or `otherwise` where the model does not tell.
  int64_t Bytes(const std::string& key, int64_t otherwise) const {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return otherwise;
    const auto value = ParseInteger(entry->second);
    if (!value || *value < 0) Reject("with the impossible " + key + " '" + entry->second + "'");
    return *value;
  }

  [[noreturn]] void Reject(const std::string& problem) const {
    throw Error(ErrorCode::kBadModel, "'" + model_ + "' keeps tensor '" + tensor_.name() + "' in '" +
                                          Location().string() + "' " + problem);
  }

 private:
  const onnx::TensorProto& tensor_;
  const std::string& model_;
  std::map<std::string, std::string> entries_;
};

void CheckLocation(const ExternalTensor& tensor, const fs::path& folder) {
  const fs::path location = tensor.Location();
  const std::string advice = "outside the model's folder; move the file next to the model";
  if (location.empty()) tensor.Reject("(no location is given)");
  if (location.is_absolute()) tensor.Reject("(an absolute path), " + advice);
  std::error_code error;
  const fs::path home = fs::weakly_canonical(folder, error);
  const fs::path target = fs::weakly_canonical(folder / location, error);
  if (error) tensor.Reject("(" + error.message() + ")");
  const fs::path relative = target.lexically_relative(home);
  if (relative.empty() || *relative.begin() == "..") {
    tensor.Reject("(a link or path to '" + target.string() + "'), " + advice);
  }
}

// 0 for types whose elements are no whole bytes or that came after the linked onnx library.
int64_t ElementBytes(int32_t type) {
  switch (type) {
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
    case onnx::TensorProto::COMPLEX64:
      return 8;
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return 4;
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return 2;
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return 1;
    default:
      return 0;
  }
}

// The bytes that type and shape ask for; -1 where they do not tell.
int64_t ExpectedBytes(const onnx::TensorProto& proto, const ExternalTensor& tensor) {
  int64_t bytes = ElementBytes(proto.data_type());
  if (bytes == 0) return -1;
  for (const int64_t extent : proto.dims()) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      tensor.Reject("with an impossible shape");
  }
  return bytes;
}

std::string ReadTensor(const onnx::TensorProto& proto, const ExternalTensor& tensor, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(path, error));
  if (!file || error) tensor.Reject("which cannot be read; put the file next to the model");
  const int64_t offset = tensor.Bytes("offset", 0);
  const int64_t expected = ExpectedBytes(proto, tensor);
  const int64_t length = tensor.Bytes("length", expected >= 0 ? expected : size - offset);
  if (expected >= 0 && length != expected) {
    tensor.Reject("with " + std::to_string(length) + " bytes where its shape needs " +
                  std::to_string(expected));
  }
  if (offset > size || length > size - offset) {
    tensor.Reject("which is truncated: it has " + std::to_string(size) + " bytes, the tensor has " +
                  std::to_string(length) + " from " + std::to_string(offset));
  }
  std::string bytes(static_cast<size_t>(length), '\0');
  file.seekg(offset);
  if (!file.read(bytes.data(), length)) tensor.Reject("which cannot be read");
  return bytes;
}

}  // namespace

void CheckExternalData(const onnx::ModelProto& model, const std::optional<fs::path>& folder,
                       const std::string& name) {
  // The visitor only looks, but protobuf's nested access is either all mutable or all const.
  VisitExternalTensors(const_cast<onnx::ModelProto&>(model), [&](const onnx::TensorProto& proto) {
    const ExternalTensor tensor(proto, name);
    if (!folder) tensor.Reject("but was given as bytes, which have no folder; load it from its file");
    CheckLocation(tensor, *folder);
  });
}

void LoadExternalData(onnx::ModelProto& model, const fs::path& folder, const std::string& name) {
  VisitExternalTensors(model, [&](onnx::TensorProto& proto) {
    const ExternalTensor tensor(proto, name);
    proto.set_raw_data(ReadTensor(proto, tensor, folder / tensor.Location()));
    proto.clear_external_data();
    proto.clear_data_location();
  });
}

}  // namespace ort_ed
