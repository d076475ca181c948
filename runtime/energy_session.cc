#include "runtime/energy_session.h"

#include <array>
#include <cmath>

#include "ort_ed/metadata.h"

namespace ort_ed {
namespace {

std::string TypeName(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return "float32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return "float64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return "float16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return "bfloat16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return "int64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return "int32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return "uint8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return "bool";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
      return "string";
    default:
      return "ONNX element type " + std::to_string(type);
  }
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + (extent < 0 ? std::string("?") : std::to_string(extent));
  return text + "]";
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

Ort::ConstTensorTypeAndShapeInfo TensorInfo(const Ort::TypeInfo& type) {
  return type.GetTensorTypeAndShapeInfo();
}

}  // namespace

EnergySession::EnergySession(Ort::Session session, std::string name, bool with_gradient)
    : session_(std::move(session)),
      name_(std::move(name)),
      failure_("running the model '" + name_ + "' failed") {
  Translated(ErrorCode::kBadModel, "cannot read the inputs and outputs of the model '" + name_ + "'", [&] {
    CheckInput();
    CheckOutputs(with_gradient);
  });
  const auto width = static_cast<size_t>(dimension_);
  std::vector<float> rows(2 * width);  // zeros, and mostly ones
  for (size_t i = 0; i < width; ++i) rows[width + i] = static_cast<float>(i % 3 != 1);
  const std::array<float, 2> together = RunTwoRows(rows);
  if (!with_gradient) CompareAlone(rows, together);
}

void EnergySession::Reject(const std::string& problem) const {
  throw Error(ErrorCode::kBadModel, "'" + name_ + "' is no energy model: " + problem);
}

void EnergySession::CheckInput() {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;
  for (size_t i = 0; i < session_.GetInputCount(); ++i)
    names.emplace_back(session_.GetInputNameAllocated(i, allocator).get());
  if (names.size() != 1)
    Reject("it has " + std::to_string(names.size()) + " inputs (" + Joined(names) +
           ") and needs exactly one, float32 [batch, D]; make the others initialisers or constants");
  input_ = names[0];
  const std::string input = "its input '" + input_ + "' ";
  const Ort::TypeInfo type = session_.GetInputTypeInfo(0);
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) Reject(input + "is no tensor; it must be float32 [batch, D]");
  const auto info = TensorInfo(type);
  if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    Reject(input + "is " + TypeName(info.GetElementType()) +
           " and must be float32; put a Cast behind a float32 input");
  const std::vector<int64_t> shape = info.GetShape();
  if (shape.size() != 2)
    Reject(input + "has the shape " + ShapeText(shape) +
           " and must have rank 2, [batch, D]; put a Reshape behind an input of that shape");
  if (shape[1] < 1)
    Reject(input + "has the shape " + ShapeText(shape) +
           ", but D, its second extent, must be fixed; export the model with a fixed number of columns");
  if (shape[0] >= 0)
    Reject(input + "has the batch fixed at " + std::to_string(shape[0]) +
           "; export the model with a dynamic batch (in PyTorch: dynamic_axes={'" + input_ +
           "': {0: 'batch'}, ...})");
  dimension_ = shape[1];
}

void EnergySession::CheckOutputs(bool with_gradient) {
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;  // without our own gradient's
  size_t energy = 0;
  bool has_gradient = false;
  for (size_t i = 0; i < session_.GetOutputCount(); ++i) {
    const std::string name = session_.GetOutputNameAllocated(i, allocator).get();
    if (with_gradient && name == kGradientOutputName) {
      has_gradient = true;
      continue;
    }
    names.push_back(name);
    if (names.size() == 1 || name == kEnergyOutputName) {
      energy = i;
      energy_ = name;
    }
  }
  if (names.size() != 1 && energy_ != kEnergyOutputName)
    Reject("it has the outputs " + Joined(names) + "; name the one that is the energy '" + kEnergyOutputName +
           "'");
  const std::string output = "its output '" + energy_ + "' ";
  const Ort::TypeInfo type = session_.GetOutputTypeInfo(energy);
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) Reject(output + "is no tensor; it must be float32 [batch]");
  if (const auto element = TensorInfo(type).GetElementType(); element != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    Reject(output + "is " + TypeName(element) + " and must be float32; put a Cast before it");
  outputs_ = {energy_.c_str()};
  if (!with_gradient) return;
  if (!has_gradient) Reject(std::string("its gradient graph has no output '") + kGradientOutputName + "'");
  outputs_.push_back(kGradientOutputName);
}

// The shapes that a file declares for its outputs may be missing or wrong, and a graph may have the batch
// size baked in: running it tells. Returns the energies.
std::array<float, 2> EnergySession::RunTwoRows(std::span<float> rows) {
  const std::array<int64_t, 2> shape = {2, dimension_};
  const char* input = input_.c_str();
  const auto results = Translated(ErrorCode::kBadModel, "the model '" + name_ + "' does not run", [&] {
    const Ort::Value x =
        Ort::Value::CreateTensor<float>(memory_, rows.data(), rows.size(), shape.data(), shape.size());
    return session_.Run(Ort::RunOptions{nullptr}, &input, &x, 1, outputs_.data(), outputs_.size());
  });
  const std::vector<int64_t> energies = results[0].GetTensorTypeAndShapeInfo().GetShape();
  if (energies != std::vector{shape[0]} && energies != std::vector{shape[0], int64_t{1}})
    Reject("for 2 rows its output '" + energy_ + "' has the shape " + ShapeText(energies) +
           "; it must be [batch] or [batch, 1]");
  energy_rank_ = energies.size();
  const float* values = results[0].GetTensorData<float>();
  if (results.size() < 2) return {values[0], values[1]};
  const auto info = results[1].GetTensorTypeAndShapeInfo();
  if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT ||
      info.GetShape() != std::vector(shape.begin(), shape.end()))
    Reject(std::string("its output '") + kGradientOutputName + "' is not float32 [batch, " +
           std::to_string(dimension_) + "]");
  return {values[0], values[1]};
}

// Batches are cut anyhow: an energy must not depend on the rows beside its own, nor on chance.
void EnergySession::CompareAlone(std::span<const float> rows, const std::array<float, 2>& together) const {
  for (size_t r = 0; r < together.size(); ++r) {
    float alone;
    Run(&rows[r * static_cast<size_t>(dimension_)], 1, &alone);
    const float difference = std::abs(together[r] - alone);  // not a number where both are infinite
    if (difference > 1e-3f * (1 + std::abs(alone)))
      Reject("the energy of the same row is " + std::to_string(alone) + " alone and " +
             std::to_string(together[r]) + " beside another: it depends on the batch or on chance");
  }
}

std::map<std::string, std::string> EnergySession::Metadata() const {
  return Translated(ErrorCode::kBadModel, "cannot read the metadata of the model '" + name_ + "'", [&] {
    Ort::AllocatorWithDefaultOptions allocator;
    const Ort::ModelMetadata metadata = session_.GetModelMetadata();
    std::map<std::string, std::string> entries;
    for (const auto& key : metadata.GetCustomMetadataMapKeysAllocated(allocator))
      entries[key.get()] = metadata.LookupCustomMetadataMapAllocated(key.get(), allocator).get();
    return entries;
  });
}

void EnergySession::Run(const float* rows, int64_t count, float* energies, float* gradients) const {
  const std::array<int64_t, 2> row_shape = {count, dimension_};
  const std::array<int64_t, 2> energy_shape = {count, 1};
  const auto floats = static_cast<size_t>(count * dimension_);
  const char* input = input_.c_str();
  Translated(ErrorCode::kRuntime, failure_, [&] {
    // ONNX Runtime does not write to inputs, though their type says so.
    const Ort::Value x = Ort::Value::CreateTensor<float>(memory_, const_cast<float*>(rows), floats,
                                                         row_shape.data(), row_shape.size());
    Ort::Value results[2] = {Ort::Value::CreateTensor<float>(memory_, energies, static_cast<size_t>(count),
                                                             energy_shape.data(), energy_rank_),
                             Ort::Value(nullptr)};
    if (gradients != nullptr)
      results[1] = Ort::Value::CreateTensor<float>(memory_, gradients, floats, row_shape.data(), 2);
    session_.Run(Ort::RunOptions{nullptr}, &input, &x, 1, outputs_.data(), results,
                 gradients == nullptr ? 1 : 2);
  });
}

}  // namespace ort_ed
