#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace google::protobuf::io {
class ZeroCopyOutputStream;
}

namespace onnx {
class ModelProto;
}

namespace ort_ed {

enum class ExternalData {
  kLoad,  // tensors kept in other files become part of the model
  kKeep,  // they stay where they are; only their paths are checked
};

// Reads an ONNX model. Throws kIo if the file cannot be read and kBadModel if it is empty, not ONNX,
// truncated, too large, or not let in by the gate (runtime/support/gate).
onnx::ModelProto LoadModel(const std::string& path, ExternalData external_data = ExternalData::kLoad);

// The same of bytes that were read from the file `path`.
onnx::ModelProto LoadModel(std::span<const std::byte> bytes, const std::string& path,
                           ExternalData external_data);

// The same from memory; `name` stands for the file in messages. Tensors in other files are refused. Whether
// tensors have as many values as their shapes say is left to CheckTensorData(): checkpoints keep them apart.
onnx::ModelProto ParseModel(std::string_view bytes, const std::string& name);

// Deterministic bytes. Throws kInvalidArgument for a model beyond the 2 GiB of one ONNX file.
std::string SerializeModel(const onnx::ModelProto& model);
void SerializeModel(const onnx::ModelProto& model, google::protobuf::io::ZeroCopyOutputStream& stream);

// The checker of the onnx library and strict shape inference. Throws kBadModel with the checker's reason.
// Opsets newer than the linked onnx library are beyond its knowledge and pass.
void CheckOnnx(const onnx::ModelProto& model, const std::string& name);

}  // namespace ort_ed
