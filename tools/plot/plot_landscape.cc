// Energy and density over the plane.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/loaded_model.h"
#include "tools/picture/pictures.h"
#include "tools/plot/density_option.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

constexpr int kPointsPerCell = 2;  // in each direction
constexpr uint64_t kTruthDraws = 1000000;
constexpr uint64_t kTruthSeed = 1;

struct LandscapeOptions {
  DensityOption density;
  int grid = 240;

  static void Describe(Declare<LandscapeOptions>& declare) {
    declare.All(&LandscapeOptions::density);
    declare("grid", &LandscapeOptions::grid, "[8, 2048]", "cells per side");
  }
};

// A square of the plane, cut into `side` x `side` cells; row 0 is at the bottom.
struct PlaneGrid {
  double limit;
  int side;
  double cell() const { return 2 * limit / side; }
  size_t cells() const { return static_cast<size_t>(side) * static_cast<size_t>(side); }
};

// Energies at the middles of a finer grid, kPointsPerCell^2 values for each cell.
std::vector<float> FineEnergies(const EnergyModel& model, const PlanarCode& code, const PlaneGrid& grid) {
  const int side = grid.side * kPointsPerCell;
  const double step = 2 * grid.limit / side;
  std::vector<uint8_t> rows(static_cast<size_t>(side) * PlanarCode::kBits);
  std::vector<float> energies(static_cast<size_t>(side) * static_cast<size_t>(side));
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x)
      code.Encode({-grid.limit + (x + 0.5) * step, -grid.limit + (y + 0.5) * step},
                  std::span(rows).subspan(static_cast<size_t>(x) * PlanarCode::kBits, PlanarCode::kBits));
    model.Energy(rows, std::span(energies).subspan(static_cast<size_t>(y) * static_cast<size_t>(side),
                                                   static_cast<size_t>(side)));
  }
  return energies;
}

// The mean over the points of each cell of `value(energy)`.
template <typename Value>
std::vector<double> CellMeans(const std::vector<float>& fine, const PlaneGrid& grid, Value value) {
  std::vector<double> means(grid.cells());
  const int side = grid.side * kPointsPerCell;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      means[static_cast<size_t>(y / kPointsPerCell * grid.side + x / kPointsPerCell)] +=
          value(fine[static_cast<size_t>(y * side + x)]) / (kPointsPerCell * kPointsPerCell);
  return means;
}

void NormaliseToDensity(std::vector<double>& values, const PlaneGrid& grid) {
  double sum = 0;
  for (const double value : values) sum += value;
  for (double& value : values) value /= sum * grid.cell() * grid.cell();
}

std::vector<double> TrueDensity(const PlanarDensity& density, const PlaneGrid& grid) {
  std::vector<double> counts(grid.cells());
  for (uint64_t row = 0; row < kTruthDraws; ++row) {
    const PlanarPoint point = DrawPlanarPoint(density, kTruthSeed, row);
    const double x = (point.x + grid.limit) / grid.cell(), y = (point.y + grid.limit) / grid.cell();
    if (x >= 0 && y >= 0 && x < grid.side && y < grid.side)
      ++counts[static_cast<size_t>(y) * static_cast<size_t>(grid.side) + static_cast<size_t>(x)];
  }
  NormaliseToDensity(counts, grid);
  return counts;
}

PlaneChart GridChart(const std::string& title, const PlaneGrid& grid, std::vector<double> values, double high,
                     const ColorMap& colors) {
  const Axis axis = {.low = -grid.limit, .high = grid.limit};
  return {.title = title,
          .x = axis,
          .y = axis,
          .heat = {.rows = grid.side,
                   .columns = grid.side,
                   .values = std::move(values),
                   .low = 0,
                   .high = high,
                   .colors = &colors},
          .points = {},
          .color_bar = true};
}

Canvas DrawLandscape(const std::string& input, const LandscapeOptions& options, const LoadOptions& load,
                     Observer&) {
  const PlanarDensity& density = options.density.Get();
  // The outermost samples lie at about f_scale - 1.
  const PlaneGrid grid{.limit = density.f_scale - 0.5, .side = options.grid};
  const EnergyModel model = EnergyModel::FromFile(ModelFile(input), load);
  if (model.dimension() != PlanarCode::kBits)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' has {} variables; a landscape of the plane needs a model of {}", input,
                            model.dimension(), PlanarCode::kBits));

  const std::vector<float> fine = FineEnergies(model, PlanarCode(density.f_scale), grid);
  const double lowest = *std::min_element(fine.begin(), fine.end());
  std::vector<double> energies = CellMeans(fine, grid, [&](double energy) { return energy - lowest; });
  std::vector<double> learned =
      CellMeans(fine, grid, [&](double energy) { return std::exp(lowest - energy); });
  NormaliseToDensity(learned, grid);
  std::vector<double> truth = TrueDensity(density, grid);
  const double high_energy = std::max(1e-6, Quantile(energies, 0.95));
  const double high_density = 1.05 * Quantile(truth, 0.999);
  return ChartPicture(
      std::vector<Chart>{
          GridChart("energy U(x) - min U", grid, std::move(energies), high_energy, ColorMap::Reversed()),
          GridChart("learned density", grid, std::move(learned), high_density, ColorMap::Sequential()),
          GridChart(fmt::format("true samples: {}", density.name), grid, std::move(truth), high_density,
                    ColorMap::Sequential())},
      3);
}

}  // namespace

const PlotKind kLandscapePlot = MakePlotKind<LandscapeOptions, DrawLandscape>(
    "landscape", "energy and density over the plane beside the true density: MODEL --density NAME", true);

}  // namespace ort_ed
