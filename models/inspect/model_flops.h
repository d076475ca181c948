#pragma once

#include <cstdint>
#include <optional>

#include <onnx/onnx_pb.h>

#include "models/inspect/model_summary.h"

namespace ort_ed {

// Floating-point operations of one run of a node of the standard operator set: two per multiply-and-add of a
// product or convolution, one per element of anything else that computes, none where data only moves. Nothing
// for an unknown operator or where a shape that matters is missing.
std::optional<int64_t> NodeFlops(const onnx::NodeProto& node, const TensorShapes& shapes);

}  // namespace ort_ed
