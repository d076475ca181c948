#include "runtime/energy_session.h"

#include <cmath>

#include "ort_ed/metadata.h"
#include "runtime/session.h"
#include "runtime/support/energy_contract.h"

namespace ort_ed {
namespace {

TensorDeclaration Declared(std::string name, const Ort::TypeInfo& type) {
  TensorDeclaration tensor{.name = std::move(name), .element_type = {}, .extents = {}};
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return tensor;
  const auto info = type.GetTensorTypeAndShapeInfo();
  tensor.element_type = info.GetElementType();
  const std::vector<int64_t> sizes = info.GetShape();
  std::vector<const char*> names(sizes.size());
  info.GetSymbolicDimensions(names.data(), names.size());
  tensor.extents.emplace();
  for (size_t i = 0; i < sizes.size(); ++i)
    tensor.extents->push_back(
        {.size = sizes[i] < 0 ? std::nullopt : std::optional(sizes[i]), .name = names[i]});
  return tensor;
}

std::string FormatShape(const std::vector<int64_t>& shape) {
  std::vector<DeclaredExtent> extents;
  for (const int64_t size : shape) extents.push_back({.size = size});
  return FormatExtents(extents);
}

}  // namespace

struct EnergySession::Handles {
  Ort::Session session;
  Ort::MemoryInfo memory = HostMemory();
};

EnergySession::EnergySession(std::span<const std::byte> bytes, const Device& device, int threads,
                             std::string name, const std::string& path, bool with_gradient)
    : handles_(new Handles{.session = OpenSession(bytes, MakeSessionOptions(device, threads),
                                                  with_gradient ? name + " with gradient" : name, path,
                                                  Maker::kAnyone)}),
      name_(std::move(name)),
      failure_("running the model '" + name_ + "' failed") {
  Translated(ErrorCode::kBadModel, "cannot read the inputs and outputs of the model '" + name_ + "'",
             [&] { CheckSignature(with_gradient); });
  const auto width = static_cast<size_t>(dimension_);
  std::vector<float> rows(2 * width);  // zeros, and mostly ones
  for (size_t i = 0; i < width; ++i) rows[width + i] = static_cast<float>(i % 3 != 1);
  const std::array<float, 2> together = RunTwoRows(rows);
  if (!with_gradient) CompareAlone(rows, together);
}

EnergySession::~EnergySession() = default;

void EnergySession::Reject(const std::string& problem) const { RefuseEnergyModel(name_, problem); }

void EnergySession::CheckSignature(bool with_gradient) {
  const Ort::Session& session = handles_->session;
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<TensorDeclaration> inputs, outputs;
  for (size_t i = 0; i < session.GetInputCount(); ++i)
    inputs.push_back(
        Declared(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  bool has_gradient = false;
  for (size_t i = 0; i < session.GetOutputCount(); ++i) {
    outputs.push_back(
        Declared(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
    outputs.back().extents.reset();  // running it tells
    if (!with_gradient || outputs.back().name != kGradientOutputName) continue;
    has_gradient = true;
    outputs.pop_back();
  }
  const EnergyContract contract = CheckContract(inputs, outputs, name_);
  input_ = contract.input;
  energy_ = contract.output;
  dimension_ = contract.dimension;
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
    const Ort::Value x = Ort::Value::CreateTensor<float>(handles_->memory, rows.data(), rows.size(),
                                                         shape.data(), shape.size());
    return handles_->session.Run(Ort::RunOptions{nullptr}, &input, &x, 1, outputs_.data(), outputs_.size());
  });
  const std::vector<int64_t> energies = results[0].GetTensorTypeAndShapeInfo().GetShape();
  if (energies != std::vector{shape[0]} && energies != std::vector{shape[0], int64_t{1}})
    Reject("for 2 rows its output '" + energy_ + "' has the shape " + FormatShape(energies) +
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
    const Ort::ModelMetadata metadata = handles_->session.GetModelMetadata();
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
    const Ort::Value x = Ort::Value::CreateTensor<float>(handles_->memory, const_cast<float*>(rows), floats,
                                                         row_shape.data(), row_shape.size());
    Ort::Value results[2] = {
        Ort::Value::CreateTensor<float>(handles_->memory, energies, static_cast<size_t>(count),
                                        energy_shape.data(), energy_rank_),
        Ort::Value(nullptr)};
    if (gradients != nullptr)
      results[1] = Ort::Value::CreateTensor<float>(handles_->memory, gradients, floats, row_shape.data(), 2);
    handles_->session.Run(Ort::RunOptions{nullptr}, &input, &x, 1, outputs_.data(), results,
                          gradients == nullptr ? 1 : 2);
  });
}

}  // namespace ort_ed
