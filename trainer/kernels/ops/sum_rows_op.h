#pragma once

#include <numeric>

#include "trainer/kernels/native/row_sum.h"
#include "trainer/kernels/ops/cpu_op.h"

namespace ort_ed {

struct SumRowsOp {
  static constexpr char kName[] = "SumRows";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit SumRowsOp(const Ort::ConstKernelInfo& info)
      : axes(info.GetAttribute<int64_t>("axes")), keep(info.GetAttribute<int64_t>("keepdims") != 0) {}

  void Compute(Call& call) const {
    const Dims shape = call.Shape(0);
    Require(std::ssize(shape) >= axes, "there must be as many axes as are summed over");
    const auto product = [](auto first, auto last) {
      return static_cast<size_t>(std::accumulate(first, last, int64_t{1}, std::multiplies()));
    };
    const auto first_kept = shape.begin() + axes;
    SumRows(call.kernels(), product(shape.begin(), first_kept), product(first_kept, shape.end()), call.In(0),
            call.Out(0, ResultShape(shape, axes, keep)));
  }

  static void InferShapes(ShapeInference& context) {
    const SymbolicShape shape = context.GetInputShape(0);
    const int64_t axes = context.GetAttrInt("axes");
    if (std::ssize(shape) >= axes)
      context.Set(0, ResultShape(shape, axes, context.GetAttrInt("keepdims") != 0));
  }

  // For shapes of numbers and of symbols.
  template <typename Shape>
  static Shape ResultShape(const Shape& shape, int64_t axes, bool keep) {
    Shape result;
    for (int64_t axis = 0; keep && axis < axes; ++axis) result.push_back(typename Shape::value_type(1));
    result.insert(result.end(), shape.begin() + axes, shape.end());
    return result;
  }

  int64_t axes;  // the first so many
  bool keep;     // as axes of extent 1
};

}  // namespace ort_ed
