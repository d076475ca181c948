#include "trainer/kernels/native/swish.h"

#include <vector>

namespace ort_ed {
namespace {

constexpr size_t kTaskElements = 16384;

}  // namespace

void Swish(const KernelContext& context, size_t count, float beta, const float* x, float* y) {
  ForRanges(context, count, kTaskElements, [&](size_t, size_t first, size_t size) {
    context.simd.swish(size, beta, x + first, y + first, nullptr);
  });
}

float SwishGrad(const KernelContext& context, size_t count, float beta, const float* x, const float* dy,
                float* dx) {
  std::vector<double> sums(DivideUp(count, kTaskElements));
  ForRanges(context, count, kTaskElements, [&](size_t i, size_t first, size_t size) {
    sums[i] = context.simd.swish_grad(size, beta, x + first, dy + first, dx + first);
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return static_cast<float>(total);
}

}  // namespace ort_ed
