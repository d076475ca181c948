#pragma once

#include <string>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Writes operators that have no gradient rule of their own, as they are made of others, in standard operators
// that have one: recurrent layers step by step, attention, what ONNX Runtime's optimiser fuses. The model
// computes what it did before; a use that an expansion does not cover stays. For what is differentiated, not
// for what is deployed.
void ExpandOperators(onnx::ModelProto& model);

// Whether there is an expansion for it.
bool IsExpanded(const std::string& domain, const std::string& op);

}  // namespace ort_ed
