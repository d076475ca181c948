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

// Operands of a dense layer: inputs 0 and 1.
inline DenseShape CheckedShape(const Call& call, const DenseAttributes& attributes) {
  const Dims x = call.Shape(0), w = call.Shape(1);
  Require(x.size() == 2 && w.size() == 2 && x[1] == attributes.In(w), "x must be [rows, in], w [in, out]");
  return attributes.MakeShape(x[0], x[1], attributes.Out(w));
}

inline const float* Bias(const Call& call, const DenseShape& shape) {
  const float* bias = call.OptionalIn(2);
  Require(!bias || call.Count(2) == shape.out, "the bias must have one element an output");
  return bias;
}

inline Dims ResultDims(const DenseShape& shape) {
  return {static_cast<int64_t>(shape.rows), static_cast<int64_t>(shape.out)};
}

inline void InferDenseResult(ShapeInference& context, size_t outputs) {
  const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
  if (x.size() != 2 || w.size() != 2) return;
  for (size_t i = 0; i < outputs; ++i) context.Set(i, {x[0], DenseAttributes(context).Out(w)});
}

struct DenseOp {
  static constexpr char kName[] = "Dense";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit DenseOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseShape shape = CheckedShape(call, attributes);
    Dense(call.kernels(), shape, call.In(0), call.In(1), Bias(call, shape), call.Out(0, ResultDims(shape)));
  }
  static void InferShapes(ShapeInference& context) { InferDenseResult(context, 1); }
  DenseAttributes attributes;
};

struct DenseSwishOp {
  static constexpr char kName[] = "DenseSwish";
  static constexpr size_t kInputs = 4, kOutputs = 2, kOptionalInputs = 2, kOptionalOutputs = 0;

  explicit DenseSwishOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseShape shape = CheckedShape(call, attributes);
    DenseSwish(call.kernels(), shape, call.In(0), call.In(1), Bias(call, shape), Slope(call, 3),
               call.Out(0, ResultDims(shape)), call.Out(1, ResultDims(shape)));
  }
  static void InferShapes(ShapeInference& context) { InferDenseResult(context, 2); }
  DenseAttributes attributes;
};

// Outputs 0 to 2 of both gradients.
inline DenseGradients Gradients(Call& call, const DenseShape& shape) {
  DenseGradients gradients;
  gradients.dx = call.OptionalOut(0, call.Shape(0));
  gradients.dw = call.OptionalOut(1, call.Shape(1));
  gradients.dbias = call.OptionalOut(2, {static_cast<int64_t>(shape.out)});
  return gradients;
}

inline DenseOperands Operands(const Call& call, const DenseShape& shape) {
  Require(call.Shape(2) == ResultDims(shape), "dy must be [rows, out]");
  return {call.In(0), call.In(1), call.In(2)};
}

inline void InferDenseGradients(ShapeInference& context) {
  context.Copy(0, 0);
  context.Copy(1, 1);
  const SymbolicShape& w = context.GetInputShape(1);
  if (w.size() == 2) context.Set(2, {DenseAttributes(context).Out(w)});
}

struct DenseGradOp {
  static constexpr char kName[] = "DenseGrad";
  static constexpr size_t kInputs = 3, kOutputs = 3, kOptionalInputs = 0, kOptionalOutputs = 3;

  explicit DenseGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseShape shape = CheckedShape(call, attributes);
    DenseGrad(call.kernels(), shape, Operands(call, shape), nullptr, Gradients(call, shape));
  }
  static void InferShapes(ShapeInference& context) { InferDenseGradients(context); }
  DenseAttributes attributes;
};

struct DenseSwishGradOp {
  static constexpr char kName[] = "DenseSwishGrad";
  static constexpr size_t kInputs = 6, kOutputs = 4, kOptionalInputs = 1, kOptionalOutputs = 4;

  explicit DenseSwishGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseShape shape = CheckedShape(call, attributes);
    Require(call.Shape(3) == ResultDims(shape) && call.Shape(4) == ResultDims(shape),
            "y and sigmoid must be [rows, out]");
    const SwishResult swish = {Slope(call, 5), call.In(3), call.In(4)};
    DenseGradients gradients = Gradients(call, shape);
    if (call.OptionalIn(5)) gradients.dbeta = call.OptionalOut(3, call.Shape(5));
    DenseGrad(call.kernels(), shape, Operands(call, shape), &swish, gradients);
  }
  static void InferShapes(ShapeInference& context) {
    InferDenseGradients(context);
    if (context.GetInputCount() > 5) context.Copy(5, 3);
  }
  DenseAttributes attributes;
};

}  // namespace ort_ed
