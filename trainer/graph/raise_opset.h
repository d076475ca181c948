#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// The oldest opset that gradient rules are written for.
inline constexpr int64_t kOldestDifferentiableOpset = 17;

// Rewrites a model of an older opset (7 to 16), and functions of one, in the operators of opset 17: arguments
// that were attributes become inputs, Softmax over several axes becomes Softmax of a matrix, and so on. The
// computation stays the same. Newer models and functions stay as they are. Throws kBadModel naming the node
// where an operator has no equivalent, and for opsets below 7, which ONNX Runtime does not run either.
void RaiseOpset(onnx::ModelProto& model);

}  // namespace ort_ed
