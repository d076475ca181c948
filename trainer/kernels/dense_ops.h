#pragma once

#include "trainer/kernels/cpu_op.h"
#include "trainer/kernels/dense.h"
#include "trainer/kernels/swish.h"

namespace ort_ed {

// The slope of Swish: input i, or 1.
inline float Slope(const Call& call, size_t i) {
  const float* slope = call.OptionalIn(i);
  if (!slope) return 1;
  Require(call.Count(i) == 1, "the slope must have one element");
  return *slope;
}

struct SwishOp {
  static constexpr char kName[] = "Swish";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit SwishOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    Swish(call.kernels(), call.Count(0), Slope(call, 1), call.In(0), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
};

struct SwishGradOp {
  static constexpr char kName[] = "SwishGrad";
  static constexpr size_t kInputs = 3, kOutputs = 2, kOptionalInputs = 1, kOptionalOutputs = 1;

  explicit SwishGradOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    Require(call.Count(0) == call.Count(1), "x and dy must have the same shape");
    const float dbeta = SwishGrad(call.kernels(), call.Count(0), Slope(call, 2), call.In(0), call.In(1),
                                  call.Out(0, call.Shape(0)));
    if (call.OptionalIn(2)) {
      if (float* out = call.OptionalOut(1, call.Shape(2))) *out = dbeta;
    }
  }
  static void InferShapes(ShapeInference& context) {
    context.Copy(0, 0);
    if (context.GetInputCount() > 2) context.Copy(2, 1);
  }
};

// w is [in, out], or [out, in] with the attribute trans_w.
struct DenseAttributes {
  explicit DenseAttributes(const Ort::ConstKernelInfo& info)
      : transposed(info.GetAttribute<int64_t>("trans_w") != 0) {}
  explicit DenseAttributes(ShapeInference& context) : transposed(context.GetAttrInt("trans_w") != 0) {}

  template <typename Shape>
  auto In(const Shape& w) const {
    return w[transposed ? 1 : 0];
  }
  template <typename Shape>
  auto Out(const Shape& w) const {
    return w[transposed ? 0 : 1];
  }
  DenseShape MakeShape(int64_t rows, int64_t in, int64_t out) const {
    return {static_cast<size_t>(rows), static_cast<size_t>(in), static_cast<size_t>(out), transposed};
  }

  bool transposed;
};

struct DenseOp {
  static constexpr char kName[] = "Dense";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit DenseOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    Require(x.size() == 2 && w.size() == 2 && x[1] == attributes.In(w), "x must be [rows, in], w [in, out]");
    const DenseShape shape = attributes.MakeShape(x[0], x[1], attributes.Out(w));
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == shape.out, "the bias must have one element an output");
    Dense(call.kernels(), shape, call.In(0), call.In(1), bias, call.Out(0, {x[0], attributes.Out(w)}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (x.size() == 2 && w.size() == 2) context.Set(0, {x[0], DenseAttributes(context).Out(w)});
  }
  DenseAttributes attributes;
};

struct DenseInputGradOp {
  static constexpr char kName[] = "DenseInputGrad";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit DenseInputGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims dy = call.Shape(0), w = call.Shape(1);
    Require(dy.size() == 2 && w.size() == 2 && dy[1] == attributes.Out(w),
            "dy must be [rows, out], w [in, out]");
    DenseInputGrad(call.kernels(), attributes.MakeShape(dy[0], attributes.In(w), dy[1]), call.In(0),
                   call.In(1), call.Out(0, {dy[0], attributes.In(w)}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &dy = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (dy.size() == 2 && w.size() == 2) context.Set(0, {dy[0], DenseAttributes(context).In(w)});
  }
  DenseAttributes attributes;
};

struct DenseWeightGradOp {
  static constexpr char kName[] = "DenseWeightGrad";
  static constexpr size_t kInputs = 2, kOutputs = 2, kOptionalInputs = 0, kOptionalOutputs = 1;

  explicit DenseWeightGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), dy = call.Shape(1);
    Require(x.size() == 2 && dy.size() == 2 && x[0] == dy[0], "x must be [rows, in], dy [rows, out]");
    const Dims dw = attributes.transposed ? Dims{dy[1], x[1]} : Dims{x[1], dy[1]};
    DenseWeightGrad(call.kernels(), attributes.MakeShape(x[0], x[1], dy[1]), call.In(0), call.In(1),
                    call.Out(0, dw), call.OptionalOut(1, {dy[1]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &dy = context.GetInputShape(1);
    if (x.size() != 2 || dy.size() != 2) return;
    const bool transposed = DenseAttributes(context).transposed;
    context.Set(0, transposed ? SymbolicShape{dy[1], x[1]} : SymbolicShape{x[1], dy[1]});
    context.Set(1, {dy[1]});
  }
  DenseAttributes attributes;
};

}  // namespace ort_ed
