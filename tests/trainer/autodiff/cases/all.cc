#include "tests/trainer/autodiff/gradient_cases.h"

namespace ort_ed {

std::vector<GradientCase> AllRuleCases() {
  std::vector<GradientCase> all;
  for (const auto family :
       {ElementwiseCases(), TrigonometricCases(), ActivationCases(), MatmulCases(), EinsumCases(),
        ReductionCases(), SoftmaxCases(), NormalizationCases(), ConvolutionCases(), PoolingCases(),
        ShapeCases(), IndexingCases(), ScatterCases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace ort_ed
