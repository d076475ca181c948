#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Replaces every call of a model-local function by the function's nodes, also within functions and subgraphs,
// and removes the functions. Throws kBadModel, naming function and node, for a call that passes too many
// inputs, for functions that call themselves, and for functions of another opset than the model's.
void InlineFunctions(onnx::ModelProto& model);

}  // namespace ort_ed
