#pragma once

#include "sampler/quadratic/sweep.h"

// The kernels of sweep.h by instruction set.

namespace ort_ed {

void RunSweepPortable(const Sweep& sweep);
void EvaluateRowsPortable(const SweepEnergy& energy, const SweepBits* states, SweepDoubles& energies,
                          SweepFloats* gradients);
void RunSweepAvx2(const Sweep& sweep);
void EvaluateRowsAvx2(const SweepEnergy& energy, const SweepBits* states, SweepDoubles& energies,
                      SweepFloats* gradients);

}  // namespace ort_ed
