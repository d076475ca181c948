#pragma once

#include "trainer/kernels/native/dense.h"

namespace ort_ed {

// Dense layers of one output, which have no matrix product in them: Dense() and DenseGrad() come here.
void SingleOutput(const KernelContext& context, const DenseShape& shape, const float* x, const float* w,
                  const float* bias, float* y);
void SingleOutputGrad(const KernelContext& context, const DenseShape& shape, const DenseOperands& operands,
                      const DenseGradients& gradients);

}  // namespace ort_ed
