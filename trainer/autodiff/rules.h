#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/autodiff/grad_context.h"

namespace ort_ed {

// How the gradients of a node's inputs follow from those of its outputs. `emit` appends standard operators
// only and sets the gradient of every input that GradContext::Needs() one.
//
// Adding a rule: one function in the rules/<family>.cc where it belongs, its row in the table at the end of
// that file, and a case in tests/trainer/autodiff (a test fails for a row without one).
struct GradientRule {
  const char* op;  // of the default ONNX domain, but for CpuKernelRules()
  int64_t since_opset;
  void (*emit)(GradContext& node);
};

// The families' tables.
std::span<const GradientRule> ElementwiseRules();
std::span<const GradientRule> TrigonometricRules();
std::span<const GradientRule> ActivationRules();
std::span<const GradientRule> MatmulRules();
std::span<const GradientRule> EinsumRules();
std::span<const GradientRule> ReductionRules();
std::span<const GradientRule> SoftmaxRules();
std::span<const GradientRule> NormalizationRules();
std::span<const GradientRule> ConvolutionRules();
std::span<const GradientRule> PoolingRules();
std::span<const GradientRule> ShapeRules();
std::span<const GradientRule> IndexingRules();
std::span<const GradientRule> ScatterRules();

std::vector<GradientRule> AllGradientRules();

// Operators of our own domain, see trainer/kernels/cpu_ops.h; not among AllGradientRules().
std::span<const GradientRule> CpuKernelRules();

// The rule for an operator of `domain` ("" or "ai.onnx" is the standard) as the given opset defines it: the
// row with the largest since_opset that is not above it. Null if there is none.
const GradientRule* FindGradientRule(const std::string& domain, const std::string& op, int64_t opset);

enum class Differentiability {
  kRule,  // there is a rule
  kLeaf,  // the derivative is zero wherever it exists (comparisons, Shape, rounding, constants ...)
  kNone,  // an error if a gradient has to pass through
};

Differentiability Classify(const std::string& domain, const std::string& op, int64_t opset);

}  // namespace ort_ed
