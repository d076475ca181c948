#pragma once

#include <cstdint>
#include <string>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// ONNX's own operators, whose domain has two spellings.
inline bool IsStandardDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// The import of the standard domain, of a model or of a function; null if there is none.
template <typename WithOpsets>
onnx::OperatorSetIdProto* StandardImport(WithOpsets& model) {
  for (auto& import : *model.mutable_opset_import()) {
    if (IsStandardDomain(import.domain())) return &import;
  }
  return nullptr;
}

// The version of the standard operators that the model uses; 0 if it imports none.
inline int64_t StandardOpset(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (IsStandardDomain(import.domain())) return import.version();
  }
  return 0;
}

}  // namespace ort_ed
