#include "models/graph/model_file.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "models/graph/external_data.h"
#include "models/graph/standard_domain.h"
#include "models/graph/tensor_data.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = INT_MAX;  // protobuf's own limit

[[noreturn]] void Reject(const std::string& name, const std::string& problem) {
  throw Error(ErrorCode::kBadModel, "'" + name + "' " + problem);
}

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Wire type of a field of ModelProto; -1 for numbers it does not have.
int WireTypeOfModelField(uint64_t field) {
  constexpr int kVarint = 0, kLengthDelimited = 2;
  switch (field) {
    case onnx::ModelProto::kIrVersionFieldNumber:
    case onnx::ModelProto::kModelVersionFieldNumber:
      return kVarint;
    case onnx::ModelProto::kProducerNameFieldNumber:
    case onnx::ModelProto::kProducerVersionFieldNumber:
    case onnx::ModelProto::kDomainFieldNumber:
    case onnx::ModelProto::kDocStringFieldNumber:
    case onnx::ModelProto::kGraphFieldNumber:
    case onnx::ModelProto::kOpsetImportFieldNumber:
    case onnx::ModelProto::kMetadataPropsFieldNumber:
    case onnx::ModelProto::kTrainingInfoFieldNumber:
    case onnx::ModelProto::kFunctionsFieldNumber:
      return kLengthDelimited;
    default:
      return -1;
  }
}

// Why protobuf cannot read it. Every ONNX file begins with the IR version; a walk over the outermost fields
// then tells a file cut short from a damaged one.
std::string ParseProblem(std::string_view bytes) {
  constexpr std::string_view kNotOnnx = "is not an ONNX file";
  bool first = true;
  while (!bytes.empty()) {
    const auto tag = TakeVarint(bytes);
    if (!tag || WireTypeOfModelField(*tag >> 3) != static_cast<int>(*tag & 7)) break;
    const auto length_or_value = TakeVarint(bytes);
    const bool truncated = !length_or_value || ((*tag & 7) == 2 && *length_or_value > bytes.size());
    if (truncated) return first ? std::string(kNotOnnx) : "is truncated; copy or export it again";
    if ((*tag & 7) == 2) bytes.remove_prefix(*length_or_value);
    first = false;
  }
  return first ? std::string(kNotOnnx) : "is damaged; copy or export it again";
}

void CheckSize(size_t size, const std::string& name) {
  if (size <= kMaxBytes) return;
  Reject(name, "has " + std::to_string(size) +
                   " bytes, more than the 2 GiB of an ONNX file; keep large tensors as external data");
}

onnx::ModelProto Parse(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) Reject(name, "is empty, not an ONNX file");
  CheckSize(bytes.size(), name);
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) Reject(name, ParseProblem(bytes));
  if (!model.has_ir_version() && !model.has_graph()) Reject(name, "is not an ONNX file");
  if (!model.has_graph() || StandardOpset(model) == 0) {
    Reject(name, std::string("has no ") + (model.has_graph() ? "opset version" : "graph") +
                     " and is no complete ONNX model (truncated?); copy or export it again");
  }
  return model;
}

std::string ReadWholeFile(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kIo, "cannot read the model '" + path + "': " + why);
  };
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) fail("it is a folder; name a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::strerror(errno));
  const auto size = fs::file_size(path, unknown);
  if (unknown) return std::string(std::istreambuf_iterator<char>(file), {});  // a pipe
  CheckSize(size, path);
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail("it ends too early");
  return bytes;
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
  const std::string bytes = ReadWholeFile(path);
  return LoadModel(std::as_bytes(std::span(bytes)), path, external_data);
}

onnx::ModelProto LoadModel(std::span<const std::byte> bytes, const std::string& path,
                           ExternalData external_data) {
  onnx::ModelProto model = Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  CheckExternalData(model, folder, path);
  if (external_data == ExternalData::kLoad) LoadExternalData(model, folder, path);
  CheckTensorData(model, path);
  return model;
}

onnx::ModelProto ParseModel(std::string_view bytes, const std::string& name) {
  onnx::ModelProto model = Parse(bytes, name);
  CheckExternalData(model, std::nullopt, name);
  return model;
}

void SerializeModel(const onnx::ModelProto& model, google::protobuf::io::ZeroCopyOutputStream& stream) {
  const size_t size = model.ByteSizeLong();
  if (size > kMaxBytes) {
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
    Reject(name, "is not valid ONNX: " + OnOneLine(error.what()));
  }
}

}  // namespace ort_ed
