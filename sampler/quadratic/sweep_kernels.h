#pragma once

#include "sampler/quadratic/sweep.h"

// The kernels of lanes.h by instruction set.

namespace ort_ed {

void SweepLanesPortable(const LaneSweep& sweep);
void EvaluateLanesPortable(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                           LaneFloats* gradients);
void SweepLanesAvx2(const LaneSweep& sweep);
void EvaluateLanesAvx2(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                       LaneFloats* gradients);

}  // namespace ort_ed
