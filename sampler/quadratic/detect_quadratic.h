#pragma once

#include <memory>

#include "ort_ed/energy_function.h"

namespace ort_ed {

// The quadratic form that `energy` is, up to the precision of float, or null. How sure: third differences
// vanish within a rounding that is far below the second differences, the form fitted to second differences
// predicts the energies of random rows and of its own samples. A term that needs many particular bits at once
// escapes any such test: only ask for energies that are known to be polynomials of degree 2.
std::shared_ptr<const QuadraticEnergy> DetectQuadratic(const EnergyFunction& energy,
                                                       const EnergyFunctionOptions& options);

}  // namespace ort_ed
