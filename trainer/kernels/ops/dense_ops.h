#pragma once

#include <functional>
#include <numeric>

#include "trainer/kernels/native/dense.h"
#include "trainer/kernels/native/swish.h"
#include "trainer/kernels/ops/cpu_op.h"

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
    if (float* out = call.OptionalOut(1, {1})) *out = dbeta;
  }
  static void InferShapes(ShapeInference& context) {
    context.Copy(0, 0);
    context.Set(1, {1});
  }
};

// x is [rows, in], where the rows may have several axes. w is [in, out], or [out, in] with the attribute
// trans_w; a vector w is one output, without an axis in y.
struct DenseAttributes {
  explicit DenseAttributes(const Ort::ConstKernelInfo& info)
      : transposed(info.GetAttribute<int64_t>("trans_w") != 0) {}
  explicit DenseAttributes(ShapeInference& context) : transposed(context.GetAttrInt("trans_w") != 0) {}

  DenseShape MakeShape(const Dims& x, const Dims& w) const {
    Require(x.size() >= 2 && (w.size() == 2 || w.size() == 1), "x must be [rows, in], w [in, out] or [in]");
    const int64_t in = w[transposed ? 1 : 0], out = w.size() == 1 ? 1 : w[transposed ? 0 : 1];
    Require(x.back() == in, "x and w must have the same number of inputs");
    const int64_t rows = std::accumulate(x.begin(), x.end() - 1, int64_t{1}, std::multiplies());
    return {static_cast<size_t>(rows), static_cast<size_t>(in), static_cast<size_t>(out), transposed};
  }
  // For shapes of numbers and of symbols.
  template <typename Shape>
  Shape ResultShape(const Shape& x, const Shape& w) const {
    Shape result(x.begin(), x.end() - 1);
    if (w.size() != 1) result.push_back(w[transposed ? 0 : 1]);
    return result;
  }

  bool transposed;
};

// A dense layer whose x and w are inputs 0 and 1.
struct DenseCall {
  DenseCall(Call& the_call, const DenseAttributes& attributes)
      : call(the_call),
        shape(attributes.MakeShape(call.Shape(0), call.Shape(1))),
        result(attributes.ResultShape(call.Shape(0), call.Shape(1))) {}

  const float* Bias(size_t i) const {
    const float* bias = call.OptionalIn(i);
    Require(!bias || call.Count(i) == shape.out, "the bias must have one element an output");
    return bias;
  }
  // Input i, which has the result's shape.
  const float* Result(size_t i) const {
    Require(call.Shape(i) == result, "y, its gradient and sigmoid must be [rows, out]");
    return call.In(i);
  }
  DenseOperands Operands() const { return {call.In(0), call.In(1), Result(2)}; }
  // Outputs 0 to 2.
  DenseGradients Gradients() const {
    DenseGradients gradients;
    gradients.dx = call.OptionalOut(0, call.Shape(0));
    gradients.dw = call.OptionalOut(1, call.Shape(1));
    gradients.dbias = call.OptionalOut(2, {static_cast<int64_t>(shape.out)});
    return gradients;
  }

  Call& call;
  DenseShape shape;
  Dims result;
};

inline void InferDenseResult(ShapeInference& context, size_t outputs) {
  const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
  if (x.size() < 2 || w.empty()) return;
  for (size_t i = 0; i < outputs; ++i) context.Set(i, DenseAttributes(context).ResultShape(x, w));
}

inline void InferDenseGradients(ShapeInference& context) {
  context.Copy(0, 0);
  context.Copy(1, 1);
  const SymbolicShape& w = context.GetInputShape(1);
  if (w.size() == 2) context.Set(2, {w[DenseAttributes(context).transposed ? 0 : 1]});
}

struct DenseOp {
  static constexpr char kName[] = "Dense";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit DenseOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseCall dense(call, attributes);
    Dense(call.kernels(), dense.shape, call.In(0), call.In(1), dense.Bias(2), call.Out(0, dense.result));
  }
  static void InferShapes(ShapeInference& context) { InferDenseResult(context, 1); }
  DenseAttributes attributes;
};

struct DenseSwishOp {
  static constexpr char kName[] = "DenseSwish";
  static constexpr size_t kInputs = 4, kOutputs = 2, kOptionalInputs = 2, kOptionalOutputs = 0;

  explicit DenseSwishOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseCall dense(call, attributes);
    DenseSwish(call.kernels(), dense.shape, call.In(0), call.In(1), dense.Bias(2), Slope(call, 3),
               call.Out(0, dense.result), call.Out(1, dense.result));
  }
  static void InferShapes(ShapeInference& context) { InferDenseResult(context, 2); }
  DenseAttributes attributes;
};

struct DenseGradOp {
  static constexpr char kName[] = "DenseGrad";
  static constexpr size_t kInputs = 3, kOutputs = 3, kOptionalInputs = 0, kOptionalOutputs = 3;

  explicit DenseGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseCall dense(call, attributes);
    DenseGrad(call.kernels(), dense.shape, dense.Operands(), nullptr, dense.Gradients());
  }
  static void InferShapes(ShapeInference& context) { InferDenseGradients(context); }
  DenseAttributes attributes;
};

struct DenseSwishGradOp {
  static constexpr char kName[] = "DenseSwishGrad";
  static constexpr size_t kInputs = 6, kOutputs = 4, kOptionalInputs = 1, kOptionalOutputs = 4;

  explicit DenseSwishGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const DenseCall dense(call, attributes);
    const SwishResult swish = {Slope(call, 5), dense.Result(3), dense.Result(4)};
    DenseGradients gradients = dense.Gradients();
    gradients.dbeta = call.OptionalOut(3, {1});
    DenseGrad(call.kernels(), dense.shape, dense.Operands(), &swish, gradients);
  }
  static void InferShapes(ShapeInference& context) {
    InferDenseGradients(context);
    context.Set(3, {1});
  }
  DenseAttributes attributes;
};

}  // namespace ort_ed
