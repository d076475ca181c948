#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// A copy of the model that computes in double precision: every float input, output, initialiser, constant and
// cast becomes double. For comparison with gradients in float. ONNX Runtime lacks some operators in double: a
// session of the copy may not open.
onnx::ModelProto InDoublePrecision(const onnx::ModelProto& model);

}  // namespace ort_ed
