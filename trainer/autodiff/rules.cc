#include "trainer/autodiff/rules.h"

#include <set>
#include <string_view>

#include "models/graph/standard_domain.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {
namespace {

const std::set<std::string_view>& Leaves() {
  static const std::set<std::string_view> leaves = {
      // comparisons and logic
      "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", "IsNaN",
      "IsInf", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot",
      // integers made of tensors
      "Shape", "Size", "ArgMax", "ArgMin", "NonZero",
      // piecewise constant
      "Floor", "Ceil", "Round", "Sign", "Hardmax",
      // constants
      "Constant", "ConstantOfShape", "EyeLike", "Range", "RandomNormal", "RandomNormalLike", "RandomUniform",
      "RandomUniformLike", "Bernoulli", "Multinomial", "BlackmanWindow", "HammingWindow", "HannWindow",
      "MelWeightMatrix"};
  return leaves;
}

}  // namespace

std::vector<GradientRule> AllGradientRules() {
  std::vector<GradientRule> all;
  for (const auto family :
       {ElementwiseRules(), TrigonometricRules(), ActivationRules(), MatmulRules(), EinsumRules(),
        ReductionRules(), SoftmaxRules(), NormalizationRules(), ConvolutionRules(), PoolingRules(),
        ShapeRules(), IndexingRules(), ScatterRules()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

const GradientRule* FindGradientRule(const std::string& domain, const std::string& op, int64_t opset) {
  static const std::vector<GradientRule> standard_rules = AllGradientRules();
  const bool standard = IsStandardDomain(domain);
  if (!standard && domain != kCpuKernelDomain) return nullptr;
  const GradientRule* best = nullptr;
  for (const GradientRule& rule : standard ? std::span(standard_rules) : CpuKernelRules()) {
    if (rule.op != op || rule.since_opset > opset) continue;
    if (!best || rule.since_opset > best->since_opset) best = &rule;
  }
  return best;
}

Differentiability Classify(const std::string& domain, const std::string& op, int64_t opset) {
  if (IsStandardDomain(domain) && Leaves().count(op) > 0) return Differentiability::kLeaf;
  return FindGradientRule(domain, op, opset) ? Differentiability::kRule : Differentiability::kNone;
}

}  // namespace ort_ed
