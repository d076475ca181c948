#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Puts numbers in the place of what depends on nothing but constants and fixed extents (axes, shapes,
// conditions), and the nodes of bodies in the place of every If, Loop and Scan of which is known what it
// runs; sequences whose tensors are known go. Tables and long lists stay computed. The model computes what it
// did before. Nodes must be in order and functions inlined.
void FoldConstants(onnx::ModelProto& model);

}  // namespace ort_ed
