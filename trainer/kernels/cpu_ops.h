#pragma once

#include <onnxruntime_cxx_api.h>

#include "trainer/kernels/cpu_kernel_domain.h"

namespace ort_ed {

// The kernels as operators of ONNX Runtime's CPU provider, on its own threads, domain kCpuKernelDomain. All
// tensors are float; names as in the headers of the kernels;
// attributes have no defaults:
//   Swish(x, beta?) -> y                     beta: one element, 1 if left out
//   SwishGrad(x, dy, beta?) -> dx, dbeta?
//   Dense(x, w, bias?) -> y                  x [rows, in], w [in, out]
//   DenseInputGrad(dy, w) -> dx
//   DenseWeightGrad(x, dy) -> dw, dbias?
//   Conv(x, w, bias?) -> y                   ONNX's 2-D Conv; attributes strides, pads, dilations, all
//   required ConvInputGrad(dy, w, x) -> dx            same attributes; x only for its shape ConvWeightGrad(x,
//   dy, w) -> dw, dbias?   same attributes; w only for its shape
// Makes the operators known to the session. Sessions whose model does not use them are not affected.
void RegisterCpuKernels(Ort::SessionOptions& options);

}  // namespace ort_ed
