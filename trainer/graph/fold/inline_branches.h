#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Puts the branch in the place of every If of the main graph whose condition is a constant. Returns whether
// there was any.
bool InlineKnownBranches(onnx::ModelProto& model);

}  // namespace ort_ed
