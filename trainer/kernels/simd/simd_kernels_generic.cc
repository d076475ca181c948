#define ORT_ED_SIMD_LANES 4
#include "trainer/kernels/simd/simd_kernels_impl.h"

namespace ort_ed {
extern const SimdKernels kGenericKernels;
const SimdKernels kGenericKernels = MakeSimdKernels("generic");
}  // namespace ort_ed
