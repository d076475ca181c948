#pragma once

#include <string>

#include "ort_ed/energy_model.h"

namespace ort_ed {

// Loads a model for a sampler (a name of Samplers()). Where the sampler needs the gradient and the file does
// not carry it, the gradient is derived here; whether the energy is quadratic is read off the graph, whatever
// the metadata say.
EnergyModel LoadForSampling(const std::string& path, const LoadOptions& options, const std::string& sampler);

}  // namespace ort_ed
