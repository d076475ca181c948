#define ORT_ED_SIMD_LANES 16
#include "trainer/kernels/simd/simd_kernels_impl.h"

namespace ort_ed {
extern const SimdKernels kAvx512Kernels;
const SimdKernels kAvx512Kernels = MakeSimdKernels("avx512");
}  // namespace ort_ed
