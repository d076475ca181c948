#pragma once

#include <cstdint>

#include "ort_ed/energy_function.h"

// A quadratic energy evaluated for many rows (chains) at once, each in its own place of vector registers: the
// sum over the neighbours of a site is the same instruction for all of them. Every row gets what it would get
// alone, in the same order and without fused operations, so results depend neither on the instruction set nor
// on which chains share a register.

namespace ort_ed {

inline constexpr int kSweepRows = 32;  // of one group

// One coordinate of a group of rows; bits are masks: 0 or all ones.
struct alignas(64) SweepBits {
  int32_t row[kSweepRows];
};
struct alignas(64) SweepFloats {
  float row[kSweepRows];
};
struct alignas(64) SweepDoubles {
  double row[kSweepRows];
};

// What the kernels read of a QuadraticEnergy.
struct SweepEnergy {
  int64_t dimension;
  const float* fields;
  const int64_t* starts;  // of the neighbours of each site, dimension + 1
  const QuadraticEnergy::Neighbour* neighbours;
};

// `steps` times `updates` heat-bath updates in the order of `sites`, beginning at position
// step * updates (mod site_count). Update k of a step draws word k of the RandomStream with `random_key`,
// that step and row first_row + its place in the group.
struct Sweep {
  SweepEnergy energy;
  const float* base_fields;
  const int32_t* sites;
  int64_t site_count;
  int64_t updates;
  bool backwards;  // the updates of each step in reverse order
  uint64_t random_key;
  uint64_t first_step;
  uint32_t first_row;
  int64_t steps;
  SweepFloats betas;
  SweepBits* states;      // one per site
  const SweepBits* free;  // one per site: where it is 0 the state is kept. Null: free everywhere
  SweepBits* flips;       // += accepted flips of each row
};

void RunSweep(const Sweep& sweep);

// Energies without the constant, and where `gradients` is not null one dU/dx per site.
void EvaluateRows(const SweepEnergy& energy, const SweepBits* states, SweepDoubles& energies,
                  SweepFloats* gradients);

}  // namespace ort_ed
