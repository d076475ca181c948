#pragma once

#include <span>
#include <vector>

#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {

// The test cases of the gradient rules, one file a family: cases/<family>.cc for
// trainer/autodiff/rules/<family>.cc.
std::span<const GradientCase> ElementwiseCases();
std::span<const GradientCase> TrigonometricCases();
std::span<const GradientCase> ActivationCases();
std::span<const GradientCase> MatmulCases();
std::span<const GradientCase> EinsumCases();
std::span<const GradientCase> ReductionCases();
std::span<const GradientCase> SoftmaxCases();
std::span<const GradientCase> NormalizationCases();
std::span<const GradientCase> ConvolutionCases();
std::span<const GradientCase> PoolingCases();
std::span<const GradientCase> ShapeCases();
std::span<const GradientCase> IndexingCases();
std::span<const GradientCase> ScatterCases();

// Of all families.
std::vector<GradientCase> AllRuleCases();

// The cases of trainer/expand.
std::span<const GradientCase> ExpansionCases();

}  // namespace ort_ed
