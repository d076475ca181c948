#pragma once

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace ort_ed {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// The first standard node, also of subgraphs, that opset `to` does not read as opset `from` <= `to` did; null
// if all mean the same. For opsets from kOldestDifferentiableOpset on.
const onnx::NodeProto* FirstChanged(const Nodes& nodes, int64_t from, int64_t to);

}  // namespace ort_ed
