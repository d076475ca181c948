#pragma once

#include <onnx/onnx_pb.h>

#include "trainer/graph/infer_shapes.h"

namespace ort_ed {

// The part of UseCpuKernels() for rows of numbers that belong together; whether anything was replaced.
//   LayerNormalization over the last axis   -> LayerNorm
//   Gelu with erf, Relu                     -> Gelu, Relu
//   MatMul, Softmax, MatMul of matrices side by side -> Attention; other products of matrices side by side
//                                           -> MatMuls
bool UseRowKernels(onnx::ModelProto& model, const TensorInfos& infos);

}  // namespace ort_ed
