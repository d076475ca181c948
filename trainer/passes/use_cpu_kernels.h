#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// Replaces nodes of the main graph by our own operators (cpu_ops.h) where those are faster in a training step
// on the CPU; call it before differentiation, whose rules continue with our own gradients. The mathematics is
// the same; results differ by rounding. What is replaced, float tensors only:
//   x * Sigmoid(x), x * Sigmoid(beta * x)  -> Swish; beta of one element, trained or not
//   what UseImageKernels() and UseRowKernels() list, with channels last from one convolution to the next
//   Gemm, MatMul of a matrix by another or by a vector, MatMul + Add of a vector -> Dense; with Swish behind
//   it, DenseSwish
// Layers too narrow to gain stay as they are. Only for training: a model with these operators runs nowhere
// else.
void UseCpuKernels(onnx::ModelProto& model);

// Says in the model that it uses our operators.
void ImportCpuKernels(onnx::ModelProto& model);

}  // namespace ort_ed
