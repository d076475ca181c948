#include "trainer/kernels/native/activation.h"

namespace ort_ed {
namespace {

constexpr size_t kTaskElements = 16384;

}  // namespace

void Gelu(const KernelContext& context, size_t count, const float* x, float* y) {
  ForRanges(context, count, kTaskElements,
            [&](size_t, size_t first, size_t size) { context.simd.gelu(size, x + first, y + first); });
}

void GeluGrad(const KernelContext& context, size_t count, const float* x, const float* dy, float* dx) {
  ForRanges(context, count, kTaskElements, [&](size_t, size_t first, size_t size) {
    context.simd.gelu_grad(size, x + first, dy + first, dx + first);
  });
}

void Relu(const KernelContext& context, size_t count, const float* x, float* y) {
  const auto relu = context.simd.elementwise[static_cast<size_t>(SimdKernels::Elementwise::kRelu)];
  ForRanges(context, count, kTaskElements,
            [&](size_t, size_t first, size_t size) { relu(size, x + first, x + first, y + first); });
}

void ReluGrad(const KernelContext& context, size_t count, const float* y, const float* dy, float* dx) {
  ForRanges(context, count, kTaskElements, [&](size_t, size_t first, size_t size) {
    context.simd.relu_grad(size, y + first, dy + first, dx + first);
  });
}

}  // namespace ort_ed
