#pragma once

#include "sampler/lanes.h"

// The kernels of lanes.h by instruction set.

namespace ort_ed {

void SweepLanesPortable(LaneSweep& sweep);
void EvaluateLanesPortable(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                           LaneFloats* gradients);
void SweepLanesAvx2(LaneSweep& sweep);
void EvaluateLanesAvx2(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                       LaneFloats* gradients);

}  // namespace ort_ed
