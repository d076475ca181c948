#include "models/graph/external_data.h"

#include <fstream>
#include <map>

#include <onnx/onnx_pb.h>

#include "models/graph/tensors.h"
#include "ort_ed/error.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

bool IsExternal(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

// Where the bytes of one tensor are and what to say when they are not.
class ExternalTensor {
 public:
  ExternalTensor(const onnx::TensorProto& tensor, const std::string& model) : tensor_(tensor), model_(model) {
    for (const auto& entry : tensor.external_data()) entries_[entry.key()] = entry.value();
  }

  std::string Location() const { return entries_.contains("location") ? entries_.at("location") : ""; }

  // A count of bytes, or `otherwise` where the model does not tell.
  int64_t Bytes(const std::string& key, int64_t otherwise) const {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return otherwise;
    const auto value = ParseInteger(entry->second);
    if (!value || *value < 0) Reject("with the impossible " + key + " '" + entry->second + "'");
    return *value;
  }

  [[noreturn]] void Reject(const std::string& problem) const {
    throw Error(ErrorCode::kBadModel,
                "'" + model_ + "' keeps tensor '" + tensor_.name() + "' in '" + Location() + "' " + problem);
  }

 private:
  const onnx::TensorProto& tensor_;
  const std::string& model_;
  std::map<std::string, std::string> entries_;
};

// The bytes that type and shape ask for; -1 where they do not tell.
int64_t ExpectedBytes(const onnx::TensorProto& proto, const ExternalTensor& tensor) {
  int64_t bytes = ElementBits(proto.data_type()) / 8;
  if (bytes == 0) return -1;
  for (const int64_t extent : proto.dims()) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      tensor.Reject("with an impossible shape");
  }
  return bytes;
}

std::string ReadTensor(const onnx::TensorProto& proto, const ExternalTensor& tensor, const fs::path& path) {
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(path, error));  // only of a regular file
  std::ifstream file;
  if (!error) file.open(path, std::ios::binary);
  if (error || !file) tensor.Reject("which cannot be read; put the file next to the model");
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

void LoadExternalData(onnx::ModelProto& model, const fs::path& folder, const std::string& name) {
  VisitTensors(model, [&](onnx::TensorProto& proto) {
    if (!IsExternal(proto)) return;
    const ExternalTensor tensor(proto, name);
    proto.set_raw_data(ReadTensor(proto, tensor, folder / tensor.Location()));
    proto.clear_external_data();
    proto.clear_data_location();
  });
}

}  // namespace ort_ed
