#include "tools/jobs/train/pictures/event_pictures.h"

#include <algorithm>
#include <cmath>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "tools/jobs/train/pictures/gray_png.h"
#include "tools/jobs/train/pictures/markdown_table.h"

namespace ort_ed {
namespace {

constexpr int64_t kMostEnergies = 256;
constexpr int64_t kMostPictures = 64;

// The first negative of each group, then the second, ...: groups are about different rows.
std::vector<uint8_t> Negatives(const ContrastiveBatch& batch, int64_t most) {
  const int64_t count = std::min(most, batch.positives * batch.negatives), width = batch.dimension;
  std::vector<uint8_t> rows;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t group = i % batch.positives, negative = 1 + i / batch.positives;
    const auto first = batch.rows.begin() + (group * (1 + batch.negatives) + negative) * width;
    rows.insert(rows.end(), first, first + width);
  }
  return rows;
}

std::vector<double> Energies(Learner& learner, std::span<const uint8_t> rows) {
  const std::vector<float> states(rows.begin(), rows.end());
  std::vector<float> energies(states.size() / static_cast<size_t>(learner.dimension()));
  if (energies.empty()) return {};
  learner.Energies(states, energies, /*averaged=*/true);
  std::vector<double> finite;
  for (const float energy : energies)
    if (std::isfinite(energy)) finite.push_back(energy);
  return finite;
}

std::vector<int64_t> ImageShape(const RunSetup& setup) {
  const std::string& given = setup.options.network.image_shape;
  const std::vector<int64_t> shape =
      ParseImageShape(given.empty() ? GetMetadata(setup.model, metadata_key::kImageShape) : given);
  const bool fits = shape.size() == 2 && shape[0] * shape[1] == setup.learner->dimension();
  return fits ? shape : std::vector<int64_t>();
}

}  // namespace

void AppendPictures(RunSetup& setup, const ContrastiveBatch& batch, const std::vector<float>& samples,
                    int64_t step, double time, MetricsLog& metrics) {
  const RowTable& held_out = setup.dataset->validation;
  const int64_t rows = std::min(kMostEnergies, held_out.rows);
  const auto data = std::span(held_out.values).first(static_cast<size_t>(rows * held_out.columns));
  const std::vector<uint8_t> negatives = Negatives(batch, kMostEnergies);
  metrics.AppendHistogram(step, time, "energy/data", Energies(*setup.learner, data));
  metrics.AppendHistogram(step, time, "energy/negatives", Energies(*setup.learner, negatives));
  const std::vector<uint8_t> drawn(samples.begin(), samples.end());
  const Variables& variables = setup.dataset->variables;
  if (variables.described()) {
    const auto tell = [&](const char* name, std::span<const uint8_t> rows_of) {
      if (!rows_of.empty()) metrics.AppendText(step, time, name, MarkdownTable(variables, rows_of));
    };
    tell("rows/negatives", negatives);
    tell("rows/samples", drawn);
  }
  const std::vector<int64_t> shape = ImageShape(setup);
  if (shape.empty()) return;
  const auto draw = [&](const char* name, std::span<const uint8_t> pictures) {
    const size_t most = static_cast<size_t>(kMostPictures * setup.learner->dimension());
    const GrayPicture grid = DrawGrid(pictures.first(std::min(pictures.size(), most)),
                                      static_cast<int>(shape[0]), static_cast<int>(shape[1]));
    metrics.AppendImage(step, time, name, grid.height, grid.width, grid.png);
  };
  if (!negatives.empty()) draw("negatives", negatives);
  if (!drawn.empty()) draw("samples", drawn);
}

}  // namespace ort_ed
