#pragma once

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Shorter vectors stay in cache from one operator to the next.
inline constexpr int64_t kShortestFused = 4096;

// Joins the elementwise nodes that work on long vectors of one length, or on such a vector and a single
// number, into one node of our own (cpu_ops.h): what an optimiser does with all parameters is then one pass
// over memory instead of one for each operator. A length that is a symbol counts as long where no number
// does. The results are the same bits. For a training graph that runs on the CPU, as the last step.
void FuseElementwise(onnx::ModelProto& model);

}  // namespace ort_ed
