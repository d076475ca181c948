#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Numbers that are taken out of a Shape and follow from fixed extents become constants, whatever the other
// extents are: of x [batch, 3, 8, 8] the pieces Shape(x)[1] and Shape(x)[2:], also when they went through
// Identity, Cast, Squeeze, Unsqueeze, Gather, Slice and Concat. `output`: as of InferShapes().
void FixKnownShapes(onnx::ModelProto& model, const std::string& output = "");

}  // namespace ort_ed
