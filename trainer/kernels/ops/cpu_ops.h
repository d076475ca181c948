#pragma once

#include <onnxruntime_cxx_api.h>

#include "trainer/kernels/ops/cpu_kernel_domain.h"

namespace ort_ed {

// The kernels as operators of ONNX Runtime's CPU provider, on its own threads, in kCpuKernelDomain. All
// tensors are float, attributes have no defaults, ? marks what may be left out:
//
//   Swish(x, beta?) -> y                    x * sigmoid(beta * x); beta: one element, 1 if left out
//   SwishGrad(x, dy, beta?) -> dx, dbeta?   dbeta [1], whatever the shape of beta
//   Dense(x, w, bias?) -> y                 x [rows..., in], w [in, out], [out, in] with trans_w = 1, or [in]
//   DenseGrad(x, w, dy) -> dx?, dw?, dbias?
//   DenseSwish(x, w, bias?, beta?) -> y, sigmoid    Swish of the dense layer, and the sigmoid in it
//   DenseSwishGrad(x, w, dy, y, sigmoid, beta?) -> dx?, dw?, dbias?, dbeta?
//   Conv(x, w, bias?) -> y                  strides, pads, dilations, group: ONNX's Conv on x [n, spatial, c]
//   ConvInputGrad(dy, w, x) -> dx           the same; x only for its shape
//   ConvWeightGrad(x, dy, w) -> dw, dbias?  the same; w only for its shape
//   ChannelsLast(x) -> y                    [n, c, spatial] to [n, spatial, c]
//   ChannelsFirst(x) -> y                   [n, spatial, c] to [n, c, spatial]
//   ConvTranspose(x, w, bias?) -> y         the same, and the extents of y
//   MaxPool(x) -> y                         strides, pads, dilations, kernel: on x [n, spatial, c]
//   MaxPoolGrad(x, dy) -> dx                the same
//   GroupNorm(x, scale?, bias?) -> y        groups, epsilon: on x [n, spatial, c]
//   GroupNormGrad(x, dy, scale?) -> dx, dscale?, dbias?
//   LayerNorm(x, scale, bias?) -> y         epsilon: over the last axis
//   LayerNormGrad(x, scale, dy) -> dx, dscale, dbias?
//   Gelu(x) -> y, GeluGrad(x, dy) -> dx     with erf
//   Relu(x) -> y, ReluGrad(y, dy) -> dx
//   MatMuls(a, b) -> y                      trans_a, trans_b: products of matrices [..., m, n]; a may be one
//                                           matrix for all
//   Attention(a, b, v) -> y, p              y = p * v, p = softmax(a * b)
//   AttentionGrad(a, b, v, p, dy) -> da, db, dv
//   SumRows(x) -> sum                       over the first `axes` axes, which stay with extent 1 if keepdims
//                                           = 1; what millions of rows add up to keeps its digits
//   Elementwise(inputs...) -> results...    vectors of `size` elements (-1: as many as the longest has), or
//                                           numbers; program: an operation (SimdKernels::Elementwise) and
//                                           two values for each instruction, values: the inputs, then what
//                                           the instructions made; results: values

// Makes the operators known to the session. Sessions whose model does not use them are not affected.
void RegisterCpuKernels(Ort::SessionOptions& options);

}  // namespace ort_ed
