#include <cstring>

#include "runtime/simd/instruction_set.h"
#include "sampler/base/lanes.h"

#define LANE_KERNELS kPortableLaneKernels
#include "sampler/base/lane_kernels.inc"

namespace ort_ed {

const LaneKernels& BestLaneKernels() {
#if defined(__x86_64__)
  if (UsableInstructions() >= InstructionSet::kAvx2) return kAvx2LaneKernels;
#endif
  return kPortableLaneKernels;
}

}  // namespace ort_ed
