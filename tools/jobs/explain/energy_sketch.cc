#include "tools/jobs/explain/energy_sketch.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "runtime/support/text.h"

namespace ort_ed {
namespace {

constexpr size_t kQuantiles = 129;

}  // namespace

std::optional<EnergySketch> SketchEnergies(std::vector<float> energies) {
  std::erase_if(energies, [](float energy) { return !std::isfinite(energy); });
  if (energies.empty()) return std::nullopt;
  std::ranges::sort(energies);
  EnergySketch sketch{.rows = std::ssize(energies), .quantiles = {}};
  const auto rows = static_cast<double>(energies.size());
  for (size_t k = 0; k < kQuantiles; ++k) {
    const double below = std::floor(EnergySketch::Level(k, kQuantiles) * rows);
    sketch.quantiles.push_back(energies[static_cast<size_t>(std::min(below, rows - 1))]);
  }
  return sketch;
}

std::optional<EnergySketch> SketchRows(const EnergyModel& model, const RowTable& rows, Observer& observer) {
  constexpr int64_t kRowsAtOnce = 512;
  std::vector<float> energies(static_cast<size_t>(rows.rows));
  for (int64_t first = 0; first < rows.rows; first += kRowsAtOnce) {
    if (observer.StopRequested()) return std::nullopt;
    const auto count = static_cast<size_t>(std::min(kRowsAtOnce, rows.rows - first));
    const auto values =
        std::span(rows.values)
            .subspan(static_cast<size_t>(first * rows.columns), count * static_cast<size_t>(rows.columns));
    model.Energy(values, std::span(energies).subspan(static_cast<size_t>(first), count));
  }
  return SketchEnergies(std::move(energies));
}

std::map<std::string, std::string> ToMetadata(const EnergySketch& sketch) {
  std::vector<std::string> quantiles;
  for (const double quantile : sketch.quantiles) quantiles.push_back(Decimal(static_cast<float>(quantile)));
  return {{metadata_key::kEnergyRows, std::to_string(sketch.rows)},
          {metadata_key::kEnergyQuantiles, Join(quantiles, ",")}};
}

}  // namespace ort_ed
