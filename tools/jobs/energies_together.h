#pragma once

#include <cstdint>
#include <span>

#include "ort_ed/energy_model.h"
#include "runtime/support/collective.h"

namespace ort_ed {

// The energies of rows that all processes have, each of which scores some: all get all, the same as one
// process would, to the last bit.
void EnergiesTogether(const EnergyModel& model, std::span<const uint8_t> rows, std::span<float> energies,
                      Collective& processes);

}  // namespace ort_ed
