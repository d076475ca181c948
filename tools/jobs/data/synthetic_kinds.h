#pragma once

#include <vector>

#include "tools/jobs/data/synthetic_set.h"

namespace ort_ed {

// Rows of the table in synthetic_sets.cc.
std::vector<SyntheticKind> PlanarKinds();  // one for each of PlanarDensities()
SyntheticKind IsingKind();

}  // namespace ort_ed
