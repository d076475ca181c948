#pragma once

#include <memory>

#include "ort_ed/energy_function.h"

namespace ort_ed {

// The same energy with a gradient that makes first-order gains exact: where bit i of a binary variable flips,
// (1 - 2 x_i) g_i is the change of U, and g_b - g_a where another variable goes from state a to b. It costs
// an evaluation for each bit of a row. An energy whose own gradient is such is returned as it is.
std::shared_ptr<const EnergyFunction> WithDifferences(std::shared_ptr<const EnergyFunction> energy);

}  // namespace ort_ed
