#pragma once

#include <vector>

#include "tools/jobs/compare/compare.h"
#include "tools/picture/canvas.h"

namespace ort_ed {

// Curves of the runs over one another, and how the likelihoods of rows differ from those of the first model.
Canvas ComparePicture(const std::vector<ModelSource>& sources, const CompareResult& result);

}  // namespace ort_ed
