#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Puts numbers in the place of what depends on nothing but constants and fixed extents (axes, shapes,
// conditions), and the branch in the place of an If whose condition is known. Tables and long lists stay
// computed. The model computes what it did before. Nodes must be in order and functions inlined.
void FoldConstants(onnx::ModelProto& model);

}  // namespace ort_ed
