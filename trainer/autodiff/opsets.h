#pragma once

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace ort_ed {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

inline bool IsStandardDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// The import of the standard domain, of a model or of a function; null if there is none.
template <typename WithOpsets>
onnx::OperatorSetIdProto* StandardOpset(WithOpsets& model) {
  for (auto& import : *model.mutable_opset_import()) {
    if (IsStandardDomain(import.domain())) return &import;
  }
  return nullptr;
}

// The first standard node, also of subgraphs, that opset `to` does not read as opset `from` <= `to` did; null
// if all mean the same. For opsets from kOldestDifferentiableOpset on.
const onnx::NodeProto* FirstChanged(const Nodes& nodes, int64_t from, int64_t to);

}  // namespace ort_ed
