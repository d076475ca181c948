#pragma once

#include "trainer/kernels/conv/group_norm.h"
#include "trainer/kernels/conv/pooling.h"
#include "trainer/kernels/ops/conv_ops.h"

namespace ort_ed {

// A convolution's input gradient as an operator of its own; `extents` are those of the result.
struct ConvTransposeOp {
  static constexpr char kName[] = "ConvTranspose";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit ConvTransposeOp(const Ort::ConstKernelInfo& info)
      : attributes(info), extents(info.GetAttributes<int64_t>("extents")) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    Require(x.size() >= 3 && w.size() == x.size(), "x must be [n, spatial axes, c]");
    const Dims y = ResultShape(x, w, attributes, extents);
    const ConvShape s = attributes.MakeShape(y, w, x);
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == s.in_channels, "the bias must have one element an output");
    ConvInputGrad(call.kernels(), s, call.In(0), call.In(1), call.Out(0, y), bias);
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (x.size() < 3 || w.size() != x.size() || !w[1].IsInt()) return;
    context.Set(0, ResultShape(x, w, ConvAttributes(context), context.GetAttrInts("extents")));
  }

  // For shapes of numbers and of symbols.
  template <typename Shape>
  static Shape ResultShape(const Shape& x, const Shape& w, const ConvAttributes& attributes,
                           const Dims& extents) {
    Shape y = {x[0]};
    for (const int64_t extent : extents) y.push_back(typename Shape::value_type(extent));
    if constexpr (std::is_same_v<Shape, Dims>) {
      y.push_back(w[1] * attributes.group);
    } else {
      y.push_back(typename Shape::value_type(w[1].AsInt() * attributes.group));
    }
    return y;
  }
  ConvAttributes attributes;
  Dims extents;
};

struct PoolAttributes {
  explicit PoolAttributes(const Ort::ConstKernelInfo& info)
      : window(info.GetAttributes<int64_t>("strides"), info.GetAttributes<int64_t>("pads"),
               info.GetAttributes<int64_t>("dilations"), 1),
        kernel(info.GetAttributes<int64_t>("kernel")) {}
  explicit PoolAttributes(ShapeInference& context)
      : window(context.GetAttrInts("strides"), context.GetAttrInts("pads"), context.GetAttrInts("dilations"),
               1),
        kernel(context.GetAttrInts("kernel")) {}

  ConvShape MakeShape(const Dims& x) const {
    Dims weights = {x.back(), x.back()};
    weights.insert(weights.end(), kernel.begin(), kernel.end());
    return window.MakeShape(x, weights);
  }

  ConvAttributes window;
  Dims kernel;
};

struct MaxPoolOp {
  static constexpr char kName[] = "MaxPool";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit MaxPoolOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const ConvShape s = attributes.MakeShape(call.Shape(0));
    MaxPool(call.kernels(), s, call.In(0), call.Out(0, attributes.window.OutputDims(s)));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    const PoolAttributes attributes(context);
    if (x.size() != attributes.kernel.size() + 2) return;
    SymbolicShape y = {x[0]};
    for (size_t axis = 0; axis < attributes.kernel.size(); ++axis) {
      if (!x[1 + axis].IsInt()) return;
      y.emplace_back(attributes.window.OutExtent(axis, x[1 + axis].AsInt(), attributes.kernel[axis]));
    }
    y.push_back(x.back());
    context.Set(0, y);
  }
  PoolAttributes attributes;
};

struct MaxPoolGradOp {
  static constexpr char kName[] = "MaxPoolGrad";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit MaxPoolGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const ConvShape s = attributes.MakeShape(call.Shape(0));
    Require(call.Shape(1) == attributes.window.OutputDims(s),
            "dy must have the shape of the pooling's result");
    MaxPoolGrad(call.kernels(), s, call.In(0), call.In(1), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
  PoolAttributes attributes;
};

struct GroupNormAttributes {
  explicit GroupNormAttributes(const Ort::ConstKernelInfo& info)
      : groups(info.GetAttribute<int64_t>("groups")), epsilon(info.GetAttribute<float>("epsilon")) {}

  GroupNormShape MakeShape(const Dims& x) const {
    Require(x.size() >= 3 && groups > 0 && x.back() % groups == 0,
            "x must be [n, spatial axes, c], and c a multiple of the groups");
    const int64_t pixels = std::accumulate(x.begin() + 1, x.end() - 1, int64_t{1}, std::multiplies());
    return {static_cast<size_t>(x[0]), static_cast<size_t>(pixels), static_cast<size_t>(x.back()),
            static_cast<size_t>(groups), epsilon};
  }
  // Scale or bias.
  static const float* PerChannel(const Call& call, size_t i, const GroupNormShape& shape) {
    const float* values = call.OptionalIn(i);
    Require(!values || call.Count(i) == shape.channels, "scale and bias must have one element a channel");
    return values;
  }

  int64_t groups;
  float epsilon;
};

struct GroupNormOp {
  static constexpr char kName[] = "GroupNorm";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 2, kOptionalOutputs = 0;

  explicit GroupNormOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const GroupNormShape s = attributes.MakeShape(call.Shape(0));
    GroupNorm(call.kernels(), s, call.In(0), attributes.PerChannel(call, 1, s),
              attributes.PerChannel(call, 2, s), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
  GroupNormAttributes attributes;
};

struct GroupNormGradOp {
  static constexpr char kName[] = "GroupNormGrad";
  static constexpr size_t kInputs = 3, kOutputs = 3, kOptionalInputs = 1, kOptionalOutputs = 2;

  explicit GroupNormGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const GroupNormShape s = attributes.MakeShape(call.Shape(0));
    Require(call.Shape(1) == call.Shape(0), "x and dy must have the same shape");
    const Dims channels = {static_cast<int64_t>(s.channels)};
    GroupNormGrad(call.kernels(), s, call.In(0), attributes.PerChannel(call, 2, s), call.In(1),
                  call.Out(0, call.Shape(0)), call.OptionalOut(1, channels), call.OptionalOut(2, channels));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    context.Copy(0, 0);
    if (x.empty()) return;
    context.Set(1, {x.back()});
    context.Set(2, {x.back()});
  }
  GroupNormAttributes attributes;
};

}  // namespace ort_ed
