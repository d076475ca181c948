#include "trainer/kernels/simd/simd_kernels.h"

#include "runtime/simd/instruction_set.h"

namespace ort_ed {

extern const SimdKernels kGenericKernels;
#ifdef ORT_ED_HAVE_X86_KERNELS
extern const SimdKernels kAvx2Kernels, kAvx512Kernels;
#endif

std::span<const SimdKernels* const> AvailableSimdKernels() {
#ifdef ORT_ED_HAVE_X86_KERNELS
  static const SimdKernels* const all[] = {&kAvx512Kernels, &kAvx2Kernels, &kGenericKernels};
#else
  static const SimdKernels* const all[] = {&kGenericKernels};
#endif
  const auto usable = static_cast<size_t>(UsableInstructions());
  return std::span(all).last(usable + 1);
}

}  // namespace ort_ed
