#pragma once

#include "trainer/kernels/conv/conv2d.h"
#include "trainer/kernels/ops/cpu_op.h"

namespace ort_ed {

struct ConvAttributes {
  explicit ConvAttributes(const Ort::ConstKernelInfo& info)
      : ConvAttributes(info.GetAttributes<int64_t>("strides"), info.GetAttributes<int64_t>("pads"),
                       info.GetAttributes<int64_t>("dilations")) {}
  explicit ConvAttributes(ShapeInference& context)
      : ConvAttributes(context.GetAttrInts("strides"), context.GetAttrInts("pads"),
                       context.GetAttrInts("dilations")) {}

  // Extent of the output along an axis (0: y, 1: x).
  int64_t OutExtent(size_t axis, int64_t in, int64_t kernel) const {
    return (in + pads[axis] + pads[axis + 2] - dilations[axis] * (kernel - 1) - 1) / strides[axis] + 1;
  }

  // x [n, h, w, c], w [o, c, kh, kw].
  Conv2dShape MakeShape(const Dims& x, const Dims& w) const {
    Require(x.size() == 4 && w.size() == 4 && x[3] == w[1], "x must be [n, h, w, c], w [o, c, kh, kw]");
    const auto size = [](int64_t extent) { return static_cast<size_t>(extent); };
    const int64_t out_height = OutExtent(0, x[1], w[2]), out_width = OutExtent(1, x[2], w[3]);
    Require(out_height > 0 && out_width > 0, "the kernel is larger than the padded image");
    return {size(x[0]),       size(x[3]),         size(x[1]),         size(x[2]),    size(w[0]),
            size(out_height), size(out_width),    size(w[2]),         size(w[3]),    size(strides[0]),
            size(strides[1]), size(dilations[0]), size(dilations[1]), size(pads[0]), size(pads[1])};
  }

  // The same for a gradient, whose input `dy` must fit.
  Conv2dShape MakeShape(const Dims& x, const Dims& w, const Dims& dy) const {
    const Conv2dShape s = MakeShape(x, w);
    Require(dy == OutputDims(s), "dy must have the shape of the convolution's result");
    return s;
  }

  static Dims OutputDims(const Conv2dShape& s) {
    return {static_cast<int64_t>(s.images), static_cast<int64_t>(s.out_height),
            static_cast<int64_t>(s.out_width), static_cast<int64_t>(s.out_channels)};
  }

  Dims strides, pads, dilations;

 private:
  ConvAttributes(Dims s, Dims p, Dims d)
      : strides(std::move(s)), pads(std::move(p)), dilations(std::move(d)) {
    Require(strides.size() == 2 && pads.size() == 4 && dilations.size() == 2, "Conv is two-dimensional");
  }
};

struct ConvOp {
  static constexpr char kName[] = "Conv";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit ConvOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    const Conv2dShape s = attributes.MakeShape(x, w);
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == s.out_channels, "the bias must have one element an output");
    Conv2d(call.kernels(), s, call.In(0), call.In(1), bias, call.Out(0, ConvAttributes::OutputDims(s)));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (x.size() != 4 || w.size() != 4) return;
    const ConvAttributes attributes(context);
    SymbolicShape y = {x[0]};
    for (size_t axis = 0; axis < 2; ++axis) {
      if (!x[1 + axis].IsInt() || !w[2 + axis].IsInt()) return;
      y.emplace_back(attributes.OutExtent(axis, x[1 + axis].AsInt(), w[2 + axis].AsInt()));
    }
    y.push_back(w[0]);
    context.Set(0, y);
  }
  ConvAttributes attributes;
};

struct ConvInputGradOp {
  static constexpr char kName[] = "ConvInputGrad";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ConvInputGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(2);
    Conv2dInputGrad(call.kernels(), attributes.MakeShape(x, call.Shape(1), call.Shape(0)), call.In(0),
                    call.In(1), call.Out(0, x));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(2, 0); }
  ConvAttributes attributes;
};

struct ConvWeightGradOp {
  static constexpr char kName[] = "ConvWeightGrad";
  static constexpr size_t kInputs = 3, kOutputs = 2, kOptionalInputs = 0, kOptionalOutputs = 1;

  explicit ConvWeightGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims w = call.Shape(2);
    Conv2dWeightGrad(call.kernels(), attributes.MakeShape(call.Shape(0), w, call.Shape(1)), call.In(0),
                     call.In(1), call.Out(0, w), call.OptionalOut(1, {w[0]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& w = context.GetInputShape(2);
    context.Copy(2, 0);
    if (w.size() == 4) context.Set(1, {w[0]});
  }
  ConvAttributes attributes;
};

struct ChannelsLastOp {
  static constexpr char kName[] = "ChannelsLast";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ChannelsLastOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0);
    Require(x.size() == 4, "x must be [n, c, h, w]");
    ToChannelsLast(call.kernels(),
                   {static_cast<size_t>(x[0]), static_cast<size_t>(x[1]), static_cast<size_t>(x[2] * x[3])},
                   call.In(0), call.Out(0, {x[0], x[2], x[3], x[1]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    if (x.size() == 4) context.Set(0, {x[0], x[2], x[3], x[1]});
  }
};

struct ChannelsFirstOp {
  static constexpr char kName[] = "ChannelsFirst";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ChannelsFirstOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0);
    Require(x.size() == 4, "x must be [n, h, w, c]");
    ToChannelsFirst(call.kernels(),
                    {static_cast<size_t>(x[0]), static_cast<size_t>(x[3]), static_cast<size_t>(x[1] * x[2])},
                    call.In(0), call.Out(0, {x[0], x[3], x[1], x[2]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    if (x.size() == 4) context.Set(0, {x[0], x[3], x[1], x[2]});
  }
};

}  // namespace ort_ed
