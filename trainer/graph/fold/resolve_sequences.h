#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Sequences whose tensors are known one by one (packed, split, added to, taken from at constant places) are
// done without. Returns whether a tensor is read from one no more.
bool ResolveSequences(onnx::ModelProto& model);

}  // namespace ort_ed
