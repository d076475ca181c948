#pragma once

#include "ort_ed/bipartite_form.h"
#include "ort_ed/energy_function.h"

namespace ort_ed {

// Whether the energy is that of the form, but for a constant: they agree within rounding on random rows, of
// few and of many ones, and on rows that the form itself draws. False for a form that is not usable.
bool IsBipartite(const EnergyFunction& energy, const BipartiteForm& form);

}  // namespace ort_ed
