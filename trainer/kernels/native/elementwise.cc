#include "trainer/kernels/native/elementwise.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ort_ed {
namespace {

constexpr size_t kTaskElements = 16384, kPiece = 512;

// One piece after the other, with a buffer for each number and each result that nobody wants.
class Runner {
 public:
  Runner(const SimdKernels& simd, std::span<const ElementwiseInput> inputs,
         std::span<const ElementwiseInstruction> program, std::span<float* const> results)
      : simd_(simd),
        inputs_(inputs),
        program_(program),
        results_(results),
        values_(inputs.size() + program.size()),
        buffers_(values_.size() * kPiece * sizeof(float)) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = buffers_.floats() + i * kPiece;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_number) std::fill_n(values_[i], kPiece, *inputs[i].data);
    }
  }

  void Run(size_t first, size_t count) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].is_number) values_[i] = const_cast<float*>(inputs_[i].data) + first;
    }
    for (size_t i = 0; i < program_.size(); ++i) {
      float*& result = values_[inputs_.size() + i];
      if (results_[i]) result = results_[i] + first;
      const auto& [op, a, b] = program_[i];
      simd_.elementwise[static_cast<size_t>(op)](count, values_[a], values_[b], result);
    }
  }

 private:
  const SimdKernels& simd_;
  std::span<const ElementwiseInput> inputs_;
  std::span<const ElementwiseInstruction> program_;
  std::span<float* const> results_;
  std::vector<float*> values_;  // where each value lies
  AlignedBuffer buffers_;
};

}  // namespace

std::optional<SimdKernels::Elementwise> FindElementwiseOp(const std::string& op) {
  using enum SimdKernels::Elementwise;
  static constexpr std::array<std::pair<const char*, SimdKernels::Elementwise>, 8> kNames = {
      {{"Add", kAdd},
       {"Sub", kSub},
       {"Mul", kMul},
       {"Div", kDiv},
       {"Sqrt", kSqrt},
       {"Sign", kSign},
       {"Abs", kAbs},
       {"Relu", kRelu}}};
  const auto found =
      std::ranges::find(kNames, op, [](const auto& entry) { return std::string(entry.first); });
  if (found == kNames.end()) return {};
  return found->second;
}

void RunElementwise(const KernelContext& context, size_t size, std::span<const ElementwiseInput> inputs,
                    std::span<const ElementwiseInstruction> program, std::span<float* const> results) {
  context.run_tasks(DivideUp(size, kTaskElements), [&](size_t task) {
    Runner runner(context.simd, inputs, program, results);
    const size_t end = std::min(size, (task + 1) * kTaskElements);
    for (size_t first = task * kTaskElements; first < end; first += kPiece) {
      runner.Run(first, std::min(kPiece, end - first));
    }
  });
}

}  // namespace ort_ed
