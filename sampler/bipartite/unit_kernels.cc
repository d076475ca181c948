#include "sampler/bipartite/unit_kernels.h"

#define UNIT_KERNELS kPortableUnitKernels
#define UNIT_BYTES 16
#include "sampler/bipartite/unit_kernels.inc"

namespace ort_ed {

const UnitKernels& BestUnitKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2UnitKernels;
#endif
  return kPortableUnitKernels;
}

}  // namespace ort_ed
