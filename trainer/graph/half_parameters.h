#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Initialisers of float16 and bfloat16, and those of float64 that float32 holds, become float32 with a Cast
// behind each, so that they can be trained. The model computes what it did before. Returns the names of
// arrays of float64 that stay as they are.
std::vector<std::string> WidenParameters(onnx::ModelProto& model);

// The numbers of a tensor of one of these types.
std::vector<float> ReadAsFloats(const onnx::TensorProto& tensor);

// Takes the Casts away again: the initialisers have their own types, rounded to nearest.
void NarrowParameters(onnx::ModelProto& model);

}  // namespace ort_ed
