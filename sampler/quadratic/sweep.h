#pragma once

#include <cstdint>

#include "ort_ed/energy_function.h"

// A quadratic energy evaluated for many chains at once, one chain a lane of SIMD registers: the sum over the
// neighbours of a site is the same instruction for all of them. Every lane computes what it would compute
// alone, in the same order and without fused operations, so results depend neither on the instruction set nor
// on which chains share a register.

namespace ort_ed {

inline constexpr int kLanes = 32;

// One coordinate of kLanes chains; bits are masks: 0 or all ones.
struct alignas(64) LaneBits {
  int32_t lane[kLanes];
};
struct alignas(64) LaneFloats {
  float lane[kLanes];
};
struct alignas(64) LaneDoubles {
  double lane[kLanes];
};

// What the kernels read of a QuadraticEnergy.
struct LaneEnergy {
  int64_t dimension;
  const float* fields;
  const int64_t* starts;  // of the neighbours of each site, dimension + 1
  const QuadraticEnergy::Neighbour* neighbours;
};

// `steps` times `updates` heat-bath updates in the order of `sites`, beginning at position
// step * updates (mod site_count). Update k of a step draws word k of the RandomStream with `random_key`,
// that step and row first_row + lane.
struct LaneSweep {
  LaneEnergy energy;
  const float* base_fields;
  const int32_t* sites;
  int64_t site_count;
  int64_t updates;
  bool backwards;  // the updates of each step in reverse order
  uint64_t random_key;
  uint64_t first_step;
  uint32_t first_row;
  int64_t steps;
  LaneFloats betas;
  LaneBits* states;      // one a site
  const LaneBits* free;  // one a site: where it is 0 the state is kept. Null: free everywhere
  LaneBits* flips;       // += accepted flips of each lane
};

void SweepLanes(const LaneSweep& sweep);

// Energies without the constant, and where `gradients` is not null one dU/dx a site.
void EvaluateLanes(const LaneEnergy& energy, const LaneBits* states, LaneDoubles& energies,
                   LaneFloats* gradients);

}  // namespace ort_ed
