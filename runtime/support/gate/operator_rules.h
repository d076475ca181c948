#pragma once

#include <string>

#include "runtime/support/gate/parts.h"

namespace ort_ed {

// What ONNX Runtime and the onnx library take for granted of a standard operator and crash without: found by
// tests/fuzz, which builds nodes of every operator. Each returns what is wrong, or nothing.
std::string NodeProblem(const GateNode& node, const GateScope& scope);

// The same of an attribute by itself, called `as` where it is used.
std::string AttributeProblem(const GateAttribute& attribute, std::string_view as);

// Whether every input of this operator has to be there.
bool NeedsAllInputs(const GateNode& node);

}  // namespace ort_ed
