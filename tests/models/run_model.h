#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// A model in ONNX's textual form, e.g. "g (float[batch, 3] x) => (float[batch] energy) {...}", as `opset`.
onnx::ModelProto FromText(const std::string& text, int64_t opset = 17);

// All values of one output of a model with the single input `x`, run by ONNX Runtime as it stands.
std::vector<float> RunModel(const onnx::ModelProto& model, const std::vector<float>& x,
                            const std::vector<int64_t>& shape, const std::string& output = "energy");

// Rows x dimension values of 0 and 1, the same for the same seed.
std::vector<float> RandomRows(int64_t rows, int64_t dimension, uint64_t seed = 1);

// The values of an initialiser.
std::vector<float> ParameterValues(const onnx::ModelProto& model, const std::string& name);
void SetParameterValues(onnx::ModelProto& model, const std::string& name, const std::vector<float>& values);

// Every parameter drawn anew from N(0, 1) * scale, so that no value is special.
void RandomiseParameters(onnx::ModelProto& model, double scale, uint64_t seed = 1);

}  // namespace ort_ed
