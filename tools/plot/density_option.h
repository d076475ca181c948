#pragma once

#include <optional>
#include <string>

#include "ort_ed/options.h"
#include "runtime/data/planar.h"

namespace ort_ed {

// The planar density behind the data: it tells how points become bits.
struct DensityOption {
  std::optional<std::string> density;

  static void Describe(Declare<DensityOption>& declare) {
    std::string names;
    for (const PlanarDensity& each : PlanarDensities())
      names += (names.empty() ? "" : "|") + std::string(each.name);
    declare("density", &DensityOption::density, names, "the planar density behind the data");
  }

  const PlanarDensity& Get() const {
    if (!density) throw OptionError("density", "is missing; it tells how points become bits");
    return FindPlanarDensity(*density);
  }
};

}  // namespace ort_ed
