#pragma once

#include <cstdint>
#include <functional>

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace ort_ed {

// Every tensor of the model: initialisers and attributes, those of subgraphs and functions included.
void VisitTensors(const onnx::ModelProto& model, const std::function<void(const onnx::TensorProto&)>& visit);
void VisitTensors(onnx::ModelProto& model, const std::function<void(onnx::TensorProto&)>& visit);

// Bits of an element in raw data; 0: raw data is not for this type, or the type is not known.
int64_t ElementBits(int32_t type);

}  // namespace ort_ed
