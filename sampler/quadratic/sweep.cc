#include "sampler/quadratic/sweep_kernels.h"

#define LANE_KERNEL(name) name##Portable
#define LANE_BYTES 16
#include "sampler/quadratic/sweep_kernel.inc"

namespace ort_ed {

#if defined(__x86_64__)
void SweepLanes(const LaneSweep& sweep) {
  (__builtin_cpu_supports("avx2") ? SweepLanesAvx2 : SweepLanesPortable)(sweep);
}

void EvaluateLanes(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                   LaneFloats* gradients) {
  (__builtin_cpu_supports("avx2") ? EvaluateLanesAvx2 : EvaluateLanesPortable)(energy, states, energies,
                                                                               gradients);
}
#else
void SweepLanes(const LaneSweep& sweep) { SweepLanesPortable(sweep); }

void EvaluateLanes(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                   LaneFloats* gradients) {
  EvaluateLanesPortable(energy, states, energies, gradients);
}
#endif

}  // namespace ort_ed
