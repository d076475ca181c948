#include "sampler/bipartite/unit_kernels.h"

#include "runtime/simd/instruction_set.h"

#define UNIT_KERNELS kPortableUnitKernels
#define UNIT_BYTES 16
#include "sampler/bipartite/unit_kernels.inc"

namespace ort_ed {

const UnitKernels& BestUnitKernels() {
#if defined(__x86_64__)
  if (UsableInstructions() >= InstructionSet::kAvx2) return kAvx2UnitKernels;
#endif
  return kPortableUnitKernels;
}

}  // namespace ort_ed
