#pragma once

#include "ort_ed/energy_model.h"

namespace ort_ed {

// Of a model that claims to be a normalised network (model made): its weights are 0 where the order forbids a
// connection, and its energies are those of that network, tried on a few of its draws. Throws kBadModel where
// the claim is wrong.
void RequireNormalisedForm(const EnergyModel& model);

}  // namespace ort_ed
