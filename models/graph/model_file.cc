#include "models/graph/model_file.h"

#include <filesystem>
#include <span>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "models/graph/external_data.h"
#include "models/graph/standard_domain.h"
#include "models/graph/tensor_data.h"
#include "ort_ed/error.h"
#include "runtime/support/encoding/wire.h"
#include "runtime/support/files/read_file.h"
#include "runtime/support/gate/external_data.h"
#include "runtime/support/gate/model_gate.h"
#include "runtime/support/limits.h"
#include "runtime/support/low_memory.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Reject(const std::string& name, const std::string& problem) {
  throw Error(ErrorCode::kBadModel, "'" + name + "' " + problem);
}

// Whether ModelProto has such a field.
bool IsModelField(const WireTag& tag) {
  switch (tag.number) {
    case onnx::ModelProto::kIrVersionFieldNumber:
    case onnx::ModelProto::kModelVersionFieldNumber:
      return tag.type == kVarint;
    case onnx::ModelProto::kProducerNameFieldNumber:
    case onnx::ModelProto::kProducerVersionFieldNumber:
    case onnx::ModelProto::kDomainFieldNumber:
    case onnx::ModelProto::kDocStringFieldNumber:
    case onnx::ModelProto::kGraphFieldNumber:
    case onnx::ModelProto::kOpsetImportFieldNumber:
    case onnx::ModelProto::kMetadataPropsFieldNumber:
    case onnx::ModelProto::kTrainingInfoFieldNumber:
    case onnx::ModelProto::kFunctionsFieldNumber:
      return tag.type == kLengthDelimited;
    default:
      return false;
  }
}

// Why protobuf cannot read it. Every ONNX file begins with the IR version; a walk over the outermost fields
// then tells a file cut short from a damaged one.
std::string ParseProblem(std::string_view bytes) {
  constexpr std::string_view kNotOnnx = "is not an ONNX file";
  bool first = true;
  for (WireReader reader(bytes); !reader.AtEnd(); first = false) {
    const WireTag tag = reader.ReadTag();
    if (reader.damaged() || !IsModelField(tag)) break;
    reader.Skip(tag);
    if (reader.damaged()) return first ? std::string(kNotOnnx) : "is truncated; copy or export it again";
  }
  return first ? std::string(kNotOnnx) : "is damaged; copy or export it again";
}

void CheckSize(size_t size, const std::string& name) {
  if (size <= kMaxModelBytes) return;
  Reject(name, "has " + std::to_string(size) +
                   " bytes, more than the 2 GiB of an ONNX file; keep large tensors as external data");
}

// `path`: of the file that the bytes come from; empty: none.
onnx::ModelProto Parse(std::string_view bytes, const std::string& name, const std::string& path) {
  if (bytes.empty()) Reject(name, "is empty, not an ONNX file");
  CheckSize(bytes.size(), name);
  if (!AdmitModel(std::as_bytes(std::span(bytes)), path, name)) Reject(name, ParseProblem(bytes));
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) Reject(name, ParseProblem(bytes));
  if (!model.has_ir_version() && !model.has_graph()) Reject(name, "is not an ONNX file");
  if (!model.has_graph() || StandardOpset(model) == 0) {
    Reject(name, std::string("has no ") + (model.has_graph() ? "opset version" : "graph") +
                     " and is no complete ONNX model (truncated?); copy or export it again");
  }
  return model;
}

std::string OnOneLine(std::string text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

int64_t NewestKnownOpset() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at(onnx::ONNX_DOMAIN).second;
}

}  // namespace

onnx::ModelProto LoadModel(const std::string& path, ExternalData external_data) {
  std::error_code unknown;
  if (const auto size = fs::file_size(path, unknown); !unknown) CheckSize(size, path);
  return LoadModel(ReadFile(path, "model"), path, external_data);
}

onnx::ModelProto LoadModel(std::span<const std::byte> bytes, const std::string& path,
                           ExternalData external_data) {
  onnx::ModelProto model = Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, path);
  if (external_data == ExternalData::kLoad) LoadExternalData(model, ModelFolder(path), path);
  CheckTensorData(model, path);
  return model;
}

onnx::ModelProto ParseModel(std::string_view bytes, const std::string& name) {
  return Parse(bytes, name, "");
}

void SerializeModel(const onnx::ModelProto& model, google::protobuf::io::ZeroCopyOutputStream& stream) {
  const size_t size = model.ByteSizeLong();
  if (size > kMaxModelBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "the model has " + std::to_string(size) + " bytes, more than the 2 GiB of an ONNX file");
  }
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  model.SerializeToCodedStream(&coded);
}

std::string SerializeModel(const onnx::ModelProto& model) {
  std::string bytes;
  bytes.reserve(model.ByteSizeLong());  // growing would take up to three times the memory
  google::protobuf::io::StringOutputStream stream(&bytes);
  SerializeModel(model, stream);
  return bytes;
}

void CheckOnnx(const onnx::ModelProto& model, const std::string& name) {
  if (StandardOpset(model) > NewestKnownOpset()) return;
  constexpr bool kCheckTypes = true;
  constexpr int kStrict = 1;
  constexpr bool kPropagateData = true;
  try {
    onnx::checker::check_model(model);
    onnx::ModelProto copy = model;
    onnx::shape_inference::InferShapes(copy, onnx::OpSchemaRegistry::Instance(),
                                       {kCheckTypes, kStrict, kPropagateData});
  } catch (const std::exception& error) {
    if (IsLowMemory(error)) throw std::bad_alloc();
    Reject(name, "is not valid ONNX: " + OnOneLine(error.what()));
  }
}

}  // namespace ort_ed
