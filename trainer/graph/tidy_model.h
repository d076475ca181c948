#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// What ONNX Runtime reads either way and the standard, or other programs, do not: nodes come in order, and
// the standard's domain has one spelling.
void TidyModel(onnx::ModelProto& model);

// Every node of the main graph after those whose outputs it reads. Throws kBadModel for a cycle.
void SortNodes(onnx::ModelProto& model);

}  // namespace ort_ed
