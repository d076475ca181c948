#pragma once

#include <algorithm>

#include "trainer/kernels/native/elementwise.h"
#include "trainer/kernels/ops/cpu_op.h"

namespace ort_ed {

struct ElementwiseOp {
  static constexpr char kName[] = "Elementwise";
  static constexpr size_t kInputs = kMaxElementwiseInputs, kOutputs = kMaxElementwiseOutputs,
                          kOptionalInputs = kInputs - 1, kOptionalOutputs = kOutputs - 1;

  explicit ElementwiseOp(const Ort::ConstKernelInfo& info)
      : size(info.GetAttribute<int64_t>("size")), results(info.GetAttributes<int64_t>("results")) {
    const std::vector<int64_t> words = info.GetAttributes<int64_t>("program");
    for (size_t i = 0; i + 2 < words.size(); i += 3) {
      program.push_back({static_cast<SimdKernels::Elementwise>(words[i]), static_cast<size_t>(words[i + 1]),
                         static_cast<size_t>(words[i + 2])});
    }
  }

  void Compute(Call& call) const {
    const int64_t length = Length(call);
    std::vector<ElementwiseInput> inputs;
    for (size_t i = 0; i < call.InputCount(); ++i) {
      const auto count = static_cast<int64_t>(call.Count(i));
      Require(count == 1 || count == length, "inputs must have the same number of elements, or one");
      inputs.push_back({call.In(i), count == 1});
    }
    std::vector<float*> outputs(program.size());
    for (size_t i = 0; i < results.size(); ++i) {
      outputs.at(static_cast<size_t>(results[i]) - inputs.size()) = call.Out(i, {length});
    }
    RunElementwise(call.kernels(), static_cast<size_t>(length), inputs, program, outputs);
  }

  static void InferShapes(ShapeInference& context) {
    const int64_t size = context.GetAttrInt("size");
    for (size_t i = 0; i < context.GetAttrInts("results").size(); ++i) context.Set(i, {size});
  }

  int64_t Length(Call& call) const {
    int64_t length = size;
    for (size_t i = 0; size < 0 && i < call.InputCount(); ++i)
      length = std::max(length, static_cast<int64_t>(call.Count(i)));
    return length;
  }

  int64_t size;                  // of the vectors; negative: that of the longest input
  std::vector<int64_t> results;  // values that are outputs
  std::vector<ElementwiseInstruction> program;
};

}  // namespace ort_ed
