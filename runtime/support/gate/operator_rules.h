#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/gate/parts.h"

namespace ort_ed {

// What ONNX Runtime and the onnx library take for granted of a standard operator and crash without: found by
// tests/fuzz, which builds nodes of every operator. Each returns what is wrong, or nothing.
std::string NodeProblem(const GateNode& node, const GateScope& scope);

// What is wrong with the attributes of any node, a call of a function of the model included, or of the
// defaults of a function: libraries differ in which of two they take.
std::string AmbiguityProblem(const std::vector<GateAttribute>& attributes);

// The same of an attribute by itself, called `as` where it is used.
std::string AttributeProblem(const GateAttribute& attribute, std::string_view as);

// The domain of the operators that ort-ed itself brings to the graphs that it trains with.
inline constexpr std::string_view kOwnDomain = "ort_ed";

// Whether the domain is one of operators that libraries bring: functions of a model have others.
bool IsLibraryDomain(std::string_view domain);

// Whether every input of this operator has to be there.
bool NeedsAllInputs(const GateNode& node);

}  // namespace ort_ed
