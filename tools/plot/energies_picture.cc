#include "tools/plot/energies_picture.h"

#include <filesystem>
#include <utility>

#include "tools/picture/pictures.h"

namespace ort_ed {

Canvas EnergiesPicture(const std::string& model_file, std::vector<HistogramSeries> series) {
  const HistogramChart chart{
      .title = "energies under " + std::filesystem::path(model_file).filename().string(),
      .x_label = "U(x)",
      .series = std::move(series)};
  return ChartPicture(std::vector<Chart>{chart}, 1);
}

}  // namespace ort_ed
