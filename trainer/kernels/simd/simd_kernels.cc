#include "trainer/kernels/simd/simd_kernels.h"

namespace ort_ed {

extern const SimdKernels kGenericKernels;
#ifdef ORT_ED_HAVE_AVX2
extern const SimdKernels kAvx2Kernels;
#endif

std::span<const SimdKernels* const> AvailableSimdKernels() {
#ifdef ORT_ED_HAVE_AVX2
  static const SimdKernels* const all[] = {&kAvx2Kernels, &kGenericKernels};
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return std::span(all).subspan(avx2 ? 0 : 1);
#else
  static const SimdKernels* const all[] = {&kGenericKernels};
  return all;
#endif
}

}  // namespace ort_ed
