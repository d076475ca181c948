#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Puts what the graphs within a node compute in its place, for every node of the main graph of which it is
// known what it runs: an If whose condition is a constant, a Loop with a constant number of trips that does
// not end before, a Scan over an axis of known extent. Returns whether there was any.
bool InlineBodies(onnx::ModelProto& model);

}  // namespace ort_ed
