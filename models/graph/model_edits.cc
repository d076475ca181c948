#include "models/graph/model_edits.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <onnx/onnx_pb.h>

#include "ort_ed/metadata.h"

namespace ort_ed {

std::string GetMetadata(const onnx::ModelProto& model, const std::string& key) {
  for (const auto& entry : model.metadata_props())
    if (entry.key() == key) return entry.value();
  return "";
}

void SetMetadata(onnx::ModelProto& model, const std::string& key, const std::string& value) {
  auto* entries = model.mutable_metadata_props();
  const auto found =
      std::find_if(entries->begin(), entries->end(), [&](const auto& e) { return e.key() == key; });
  if (value.empty()) {
    if (found != entries->end()) entries->erase(found);
    return;
  }
  auto& entry = found != entries->end() ? *found : *entries->Add();
  entry.set_key(key);
  entry.set_value(value);
}

void RemoveStaleMetadata(onnx::ModelProto& model) {
  for (const char* key :
       {metadata_key::kLogZ, metadata_key::kLogZError, metadata_key::kLogZMethod, metadata_key::kEnergyRows,
        metadata_key::kEnergyQuantiles, metadata_key::kGradientFragment})
    SetMetadata(model, key, "");
}

onnx::TensorProto* FindInitialiser(onnx::ModelProto& model, const std::string& name) {
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.name() == name) return &tensor;
  return nullptr;
}

int64_t ElementCount(const onnx::TensorProto& tensor) {
  return std::accumulate(tensor.dims().begin(), tensor.dims().end(), int64_t{1}, std::multiplies<>());
}

void FreeValues(onnx::TensorProto& tensor) {
  delete tensor.release_raw_data();
  google::protobuf::RepeatedField<float>().Swap(tensor.mutable_float_data());
}

}  // namespace ort_ed
