#pragma once

#include <functional>
#include <numeric>

#include "trainer/kernels/conv/conv.h"
#include "trainer/kernels/ops/cpu_op.h"

namespace ort_ed {

// Of one to three axes; Conv counts them from the last.
struct ConvAttributes {
  explicit ConvAttributes(const Ort::ConstKernelInfo& info)
      : ConvAttributes(info.GetAttributes<int64_t>("strides"), info.GetAttributes<int64_t>("pads"),
                       info.GetAttributes<int64_t>("dilations"), info.GetAttribute<int64_t>("group")) {}
  explicit ConvAttributes(ShapeInference& context)
      : ConvAttributes(context.GetAttrInts("strides"), context.GetAttrInts("pads"),
                       context.GetAttrInts("dilations"), context.GetAttrInt("group")) {}

  size_t axes() const { return strides.size(); }

  // Extent of the output along an axis.
  int64_t OutExtent(size_t axis, int64_t in, int64_t kernel) const {
    return (in + pads[axis] + pads[axis + axes()] - dilations[axis] * (kernel - 1) - 1) / strides[axis] + 1;
  }

  // x [n, spatial, c], w [o, c / group, kernel].
  ConvShape MakeShape(const Dims& x, const Dims& w) const {
    Require(x.size() == axes() + 2 && w.size() == axes() + 2 && x.back() == w[1] * group && w[0] % group == 0,
            "x must be [n, spatial axes, c], w [o, c / group, kernel]");
    const auto size = [](int64_t extent) { return static_cast<size_t>(extent); };
    ConvShape s{};
    s.images = size(x[0]);
    s.in_channels = size(x.back());
    s.out_channels = size(w[0]);
    s.groups = size(group);
    // Of the axes z, y, x those in front may be missing.
    const auto set = [&](size_t from_last, size_t& in, size_t& out, size_t& kernel, size_t& stride,
                         size_t& dilation, size_t& pad) {
      in = out = kernel = stride = dilation = 1;
      pad = 0;
      if (from_last >= axes()) return;
      const size_t axis = axes() - 1 - from_last;
      const int64_t extent = OutExtent(axis, x[1 + axis], w[2 + axis]);
      Require(extent > 0, "the kernel is larger than the padded image");
      in = size(x[1 + axis]);
      out = size(extent);
      kernel = size(w[2 + axis]);
      stride = size(strides[axis]);
      dilation = size(dilations[axis]);
      pad = size(pads[axis]);
    };
    set(0, s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x, s.pad_left);
    set(1, s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y, s.pad_top);
    set(2, s.in_depth, s.out_depth, s.kernel_depth, s.stride_z, s.dilation_z, s.pad_front);
    return s;
  }

  // The same for a gradient, whose input `dy` must fit.
  ConvShape MakeShape(const Dims& x, const Dims& w, const Dims& dy) const {
    const ConvShape s = MakeShape(x, w);
    Require(dy == OutputDims(s), "dy must have the shape of the convolution's result");
    return s;
  }

  Dims OutputDims(const ConvShape& s) const {
    const size_t spatial[] = {s.out_depth, s.out_height, s.out_width};
    Dims dims = {static_cast<int64_t>(s.images)};
    for (size_t axis = 3 - axes(); axis < 3; ++axis) dims.push_back(static_cast<int64_t>(spatial[axis]));
    dims.push_back(static_cast<int64_t>(s.out_channels));
    return dims;
  }

  Dims strides, pads, dilations;
  int64_t group;

  ConvAttributes(Dims s, Dims p, Dims d, int64_t g)
      : strides(std::move(s)), pads(std::move(p)), dilations(std::move(d)), group(g) {
    Require(!strides.empty() && strides.size() <= 3 && pads.size() == 2 * strides.size() &&
                dilations.size() == strides.size() && group > 0,
            "Conv has one to three axes");
  }
};

struct ConvOp {
  static constexpr char kName[] = "Conv";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit ConvOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    const ConvShape s = attributes.MakeShape(x, w);
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == s.out_channels, "the bias must have one element an output");
    Conv(call.kernels(), s, call.In(0), call.In(1), bias, call.Out(0, attributes.OutputDims(s)));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    const ConvAttributes attributes(context);
    if (x.size() != attributes.axes() + 2 || w.size() != x.size()) return;
    SymbolicShape y = {x[0]};
    for (size_t axis = 0; axis < attributes.axes(); ++axis) {
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
    ConvInputGrad(call.kernels(), attributes.MakeShape(x, call.Shape(1), call.Shape(0)), call.In(0),
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
    ConvWeightGrad(call.kernels(), attributes.MakeShape(call.Shape(0), w, call.Shape(1)), call.In(0),
                   call.In(1), call.Out(0, w), call.OptionalOut(1, {w[0]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& w = context.GetInputShape(2);
    context.Copy(2, 0);
    if (!w.empty()) context.Set(1, {w[0]});
  }
  ConvAttributes attributes;
};

// The axes after a move of one axis to another place.
template <typename Shape>
Shape MoveAxis(Shape shape, size_t from, size_t to) {
  const auto axis = shape[from];
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(from));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(to), axis);
  return shape;
}

struct ChannelsLastOp {
  static constexpr char kName[] = "ChannelsLast";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ChannelsLastOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0);
    Require(x.size() >= 3, "x must be [n, c, spatial axes]");
    ToChannelsLast(call.kernels(), Layout(x, x[1]), call.In(0), call.Out(0, MoveAxis(x, 1, x.size() - 1)));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    if (x.size() >= 3) context.Set(0, MoveAxis(x, 1, x.size() - 1));
  }

  static PixelLayout Layout(const Dims& x, int64_t channels) {
    const int64_t image = std::accumulate(x.begin() + 1, x.end(), int64_t{1}, std::multiplies());
    return {static_cast<size_t>(x[0]), static_cast<size_t>(channels),
            channels == 0 ? 0 : static_cast<size_t>(image / channels)};
  }
};

struct ChannelsFirstOp {
  static constexpr char kName[] = "ChannelsFirst";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ChannelsFirstOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0);
    Require(x.size() >= 3, "x must be [n, spatial axes, c]");
    ToChannelsFirst(call.kernels(), ChannelsLastOp::Layout(x, x.back()), call.In(0),
                    call.Out(0, MoveAxis(x, x.size() - 1, 1)));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& x = context.GetInputShape(0);
    if (x.size() >= 3) context.Set(0, MoveAxis(x, x.size() - 1, 1));
  }
};

}  // namespace ort_ed
