#include "runtime/simd/instruction_set.h"
#include "sampler/quadratic/sweep_kernels.h"

#define SWEEP_KERNEL(name) name##Portable
#define SWEEP_BYTES 16
#include "sampler/quadratic/sweep_kernel.inc"

namespace ort_ed {

#if defined(__x86_64__)
namespace {
bool HasAvx2() { return UsableInstructions() >= InstructionSet::kAvx2; }
}  // namespace

void RunSweep(const Sweep& sweep) { (HasAvx2() ? RunSweepAvx2 : RunSweepPortable)(sweep); }

void EvaluateRows(const SweepEnergy& energy, const SweepBits* states, SweepDoubles& energies,
                  SweepFloats* gradients) {
  (HasAvx2() ? EvaluateRowsAvx2 : EvaluateRowsPortable)(energy, states, energies, gradients);
}
#else
void RunSweep(const Sweep& sweep) { RunSweepPortable(sweep); }

void EvaluateRows(const SweepEnergy& energy, const SweepBits* states, SweepDoubles& energies,
                  SweepFloats* gradients) {
  EvaluateRowsPortable(energy, states, energies, gradients);
}
#endif

}  // namespace ort_ed
