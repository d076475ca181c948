#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Rewrites operators that ONNX Runtime has only in single precision by others that it also has in double, so
// that InDoublePrecision() of the result runs: convolutions become matrix products, Softplus logarithms and
// exponentials, and so on. The computation stays the same but for rounding. The model must be prepared for
// differentiation. What it does not know stays as it is.
void UseDoubleForms(onnx::ModelProto& model);

}  // namespace ort_ed
