#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

inline constexpr int kMaxElementwiseInputs = 24, kMaxElementwiseOutputs = 8;

// The operation of a standard operator, if it is one of those that can be part of a program.
std::optional<SimdKernels::Elementwise> FindElementwiseOp(const std::string& op);

// Values are numbered: first the inputs, then the result of each instruction.
struct ElementwiseInstruction {
  SimdKernels::Elementwise op;
  size_t a, b;  // values; of one operand: twice the same
};

// A vector, or one number for all elements.
struct ElementwiseInput {
  const float* data;
  bool is_number;
};

// Runs the instructions on vectors of `size` elements, a piece that stays in cache at a time. results[i]:
// where instruction i writes to, or null if nobody wants it.
void RunElementwise(const KernelContext& context, size_t size, std::span<const ElementwiseInput> inputs,
                    std::span<const ElementwiseInstruction> program, std::span<float* const> results);

}  // namespace ort_ed
