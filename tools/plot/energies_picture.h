#pragma once

#include <string>
#include <vector>

#include "tools/picture/canvas.h"
#include "tools/picture/charts.h"

namespace ort_ed {

// Histograms of energies under the model of that file.
Canvas EnergiesPicture(const std::string& model_file, std::vector<HistogramSeries> series);

}  // namespace ort_ed
