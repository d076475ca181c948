#pragma once

#include <string>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// Every tensor of the model, those of subgraphs and functions included, has as many values as its shape says:
// ONNX's own code reads and writes without looking. Throws kBadModel, naming the tensor. Tensors kept in
// other files are not looked at.
void CheckTensorData(const onnx::ModelProto& model, const std::string& name);

}  // namespace ort_ed
