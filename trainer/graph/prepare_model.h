#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Brings a user's model into the form that Differentiate() works on, without changing what it computes: opset
// 17 or newer (raise_opset.h), functions inlined (inline_functions.h), initialisers no longer listed among
// the inputs, nodes in topological order. Models that the toolkit made itself stay as they are. Throws
// kBadModel.
void PrepareForDifferentiation(onnx::ModelProto& model);

}  // namespace ort_ed
