#include <cstring>

#include "sampler/base/lanes.h"

#define LANE_KERNELS kPortableLaneKernels
#include "sampler/base/lane_kernels.inc"

namespace ort_ed {

const LaneKernels& BestLaneKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2LaneKernels;
#endif
  return kPortableLaneKernels;
}

}  // namespace ort_ed
