#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Replaces every call of a model-local function by the function's nodes, also within functions and subgraphs,
// and removes the functions. The model's opset becomes the newest that the model or a function asks for.
// Throws kBadModel, naming function and node, for a call that passes too many inputs, for functions that call
// themselves, and where an operator is not the same in the opset that asks for it and in the newest.
void InlineFunctions(onnx::ModelProto& model);

}  // namespace ort_ed
