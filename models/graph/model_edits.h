#pragma once

#include <cstdint>
#include <string>

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace ort_ed {

// Metadata of the model by key; SetMetadata() with an empty value removes the key.
std::string GetMetadata(const onnx::ModelProto& model, const std::string& key);
void SetMetadata(onnx::ModelProto& model, const std::string& key, const std::string& value);

// Removes what is no longer true when the energy changes: log Z, the energies of training rows and the input
// gradient.
void RemoveStaleMetadata(onnx::ModelProto& model);

// The initialiser of this name, or null.
onnx::TensorProto* FindInitialiser(onnx::ModelProto& model, const std::string& name);
int64_t ElementCount(const onnx::TensorProto& tensor);
// Frees the memory of its values; clearing alone would keep it.
void FreeValues(onnx::TensorProto& tensor);

}  // namespace ort_ed
