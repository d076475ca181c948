#define ORT_ED_SIMD_LANES 8
#include "trainer/kernels/simd/simd_kernels_impl.h"

namespace ort_ed {
extern const SimdKernels kAvx2Kernels;
const SimdKernels kAvx2Kernels = MakeSimdKernels("avx2");
}  // namespace ort_ed
