#pragma once

#include <functional>
#include <numeric>

#include "trainer/kernels/native/activation.h"
#include "trainer/kernels/native/layer_norm.h"
#include "trainer/kernels/native/matrices.h"
#include "trainer/kernels/ops/cpu_op.h"

namespace ort_ed {

struct LayerNormAttributes {
  explicit LayerNormAttributes(const Ort::ConstKernelInfo& info)
      : epsilon(info.GetAttribute<float>("epsilon")) {}

  LayerNormShape MakeShape(const Call& call) const {
    const Dims x = call.Shape(0);
    Require(!x.empty() && call.Count(1) == static_cast<size_t>(x.back()),
            "the scale must be as long as a row");
    const auto columns = static_cast<size_t>(x.back());
    return {columns == 0 ? 0 : call.Count(0) / columns, columns, epsilon};
  }
  float epsilon;
};

struct LayerNormOp {
  static constexpr char kName[] = "LayerNorm";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit LayerNormOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const LayerNormShape s = attributes.MakeShape(call);
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == s.columns, "the bias must be as long as a row");
    LayerNorm(call.kernels(), s, call.In(0), call.In(1), bias, call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
  LayerNormAttributes attributes;
};

struct LayerNormGradOp {
  static constexpr char kName[] = "LayerNormGrad";
  static constexpr size_t kInputs = 3, kOutputs = 3, kOptionalInputs = 0, kOptionalOutputs = 1;

  explicit LayerNormGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const LayerNormShape s = attributes.MakeShape(call);
    Require(call.Shape(0) == call.Shape(2), "x and dy must have the same shape");
    const Dims row = {static_cast<int64_t>(s.columns)};
    LayerNormGrad(call.kernels(), s, call.In(0), call.In(1), call.In(2), call.Out(0, call.Shape(0)),
                  call.Out(1, row), call.OptionalOut(2, row));
  }
  static void InferShapes(ShapeInference& context) {
    context.Copy(0, 0);
    context.Copy(1, 1);
    context.Copy(1, 2);
  }
  LayerNormAttributes attributes;
};

// An activation without parameters: y = f(x), and dx from one of the two and dy.
template <auto kFunction, const auto& kOpName>
struct ActivationOp {
  static constexpr const char* kName = kOpName;
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ActivationOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    kFunction(call.kernels(), call.Count(0), call.In(0), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
};

template <auto kFunction, const auto& kOpName>
struct ActivationGradOp {
  static constexpr const char* kName = kOpName;
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ActivationGradOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    Require(call.Count(0) == call.Count(1), "x and dy must have the same shape");
    kFunction(call.kernels(), call.Count(0), call.In(0), call.In(1), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
};

inline constexpr char kGeluName[] = "Gelu", kGeluGradName[] = "GeluGrad", kReluName[] = "Relu",
                      kReluGradName[] = "ReluGrad";
using GeluOp = ActivationOp<Gelu, kGeluName>;
using GeluGradOp = ActivationGradOp<GeluGrad, kGeluGradName>;
using ReluOp = ActivationOp<Relu, kReluName>;
using ReluGradOp = ActivationGradOp<ReluGrad, kReluGradName>;

// The axes before the last two: one matrix after the other.
inline size_t MatrixCount(const Dims& shape) {
  return static_cast<size_t>(std::accumulate(shape.begin(), shape.end() - 2, int64_t{1}, std::multiplies()));
}

struct MatMulsOp {
  static constexpr char kName[] = "MatMuls";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit MatMulsOp(const Ort::ConstKernelInfo& info)
      : transposed_a(info.GetAttribute<int64_t>("trans_a") != 0),
        transposed_b(info.GetAttribute<int64_t>("trans_b") != 0) {}

  void Compute(Call& call) const {
    const Dims a = call.Shape(0), b = call.Shape(1);
    Require(a.size() >= 2 && b.size() >= 3 && (a.size() == 2 || a.size() == b.size()),
            "a must be one matrix, or matrices as b");
    MatricesShape s{};
    s.transposed_a = transposed_a;
    s.transposed_b = transposed_b;
    s.shared_a = a.size() == 2;
    s.count = MatrixCount(b);
    Require(s.shared_a || std::equal(a.begin(), a.end() - 2, b.begin()),
            "there must be as many of a as of b");
    const Dims out = ResultShape(a, b, transposed_a, transposed_b);
    s.rows = static_cast<size_t>(out[out.size() - 2]);
    s.columns = static_cast<size_t>(out.back());
    s.depth = static_cast<size_t>(b[b.size() - (transposed_b ? 1 : 2)]);
    Require(a[a.size() - (transposed_a ? 2 : 1)] == static_cast<int64_t>(s.depth),
            "a and b must fit together");
    MultiplyMatrices(call.kernels(), s, call.In(0), call.In(1), call.Out(0, out));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &a = context.GetInputShape(0), &b = context.GetInputShape(1);
    if (a.size() < 2 || b.size() < 3) return;
    context.Set(0, ResultShape(a, b, context.GetAttrInt("trans_a") != 0, context.GetAttrInt("trans_b") != 0));
  }

  // For shapes of numbers and of symbols.
  template <typename Shape>
  static Shape ResultShape(const Shape& a, const Shape& b, bool transposed_a, bool transposed_b) {
    Shape out(b.begin(), b.end() - 2);
    out.push_back(a[a.size() - (transposed_a ? 1 : 2)]);
    out.push_back(b[b.size() - (transposed_b ? 2 : 1)]);
    return out;
  }
  bool transposed_a, transposed_b;
};

// a, b and v of an attention, inputs 0 to 2.
inline AttentionShape AttentionShapeOf(const Call& call) {
  const Dims a = call.Shape(0), b = call.Shape(1), v = call.Shape(2);
  const size_t rank = a.size();
  Require(rank >= 3 && b.size() == rank && v.size() == rank &&
              std::equal(a.begin(), a.end() - 2, b.begin()) && std::equal(a.begin(), a.end() - 2, v.begin()),
          "there must be as many of a as of b and v");
  const auto extent = [=](const Dims& shape, size_t from_last) {
    return static_cast<size_t>(shape[rank - from_last]);
  };
  Require(a[rank - 1] == b[rank - 2] && b[rank - 1] == v[rank - 2], "a, b and v must fit together");
  return {MatrixCount(a), extent(a, 2), extent(a, 1), extent(b, 1), extent(v, 1)};
}

struct AttentionOp {
  static constexpr char kName[] = "Attention";
  static constexpr size_t kInputs = 3, kOutputs = 2, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit AttentionOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const AttentionShape s = AttentionShapeOf(call);
    Dims y = call.Shape(0), p = y;
    y.back() = static_cast<int64_t>(s.width);
    p.back() = static_cast<int64_t>(s.others);
    Attention(call.kernels(), s, call.In(0), call.In(1), call.In(2), call.Out(0, y), call.Out(1, p));
  }
  static void InferShapes(ShapeInference& context) {
    SymbolicShape y = context.GetInputShape(0), p = y;
    const SymbolicShape &b = context.GetInputShape(1), &v = context.GetInputShape(2);
    if (y.empty() || b.empty() || v.empty()) return;
    y.back() = v.back();
    p.back() = b.back();
    context.Set(0, y);
    context.Set(1, p);
  }
};

struct AttentionGradOp {
  static constexpr char kName[] = "AttentionGrad";
  static constexpr size_t kInputs = 5, kOutputs = 3, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit AttentionGradOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    const AttentionShape s = AttentionShapeOf(call);
    Require(call.Count(3) == s.count * s.tokens * s.others && call.Count(4) == s.count * s.tokens * s.width,
            "p and dy must have the shapes of the attention's results");
    AttentionGrad(call.kernels(), s, {call.In(0), call.In(1), call.In(2), call.In(3), call.In(4)},
                  {call.Out(0, call.Shape(0)), call.Out(1, call.Shape(1)), call.Out(2, call.Shape(2))});
  }
  static void InferShapes(ShapeInference& context) {
    for (size_t i = 0; i < 3; ++i) context.Copy(i, i);
  }
};

}  // namespace ort_ed
