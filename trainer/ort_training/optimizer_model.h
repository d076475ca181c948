#pragma once

#include <onnx/onnx_pb.h>

#include "trainer/learner/learner_options.h"

namespace ort_ed {

// The optimiser of these options, penalties included, of the operators that ONNX Runtime's training has for
// it: Adam, AdamW, and gradient descent without momentum, with clipping. Throws kInvalidArgument, naming the
// option, for others.
onnx::ModelProto MakeOptimizerModel(const LearnerOptions& options);

}  // namespace ort_ed
