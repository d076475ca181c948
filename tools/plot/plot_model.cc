// Pictures of energy models: `ort-ed plot landscape`, `ort-ed plot couplings` and `ort-ed plot energies`.

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <spdlog/spdlog.h>

#include "ort_ed/energy_model.h"
#include "ort_ed/error.h"
#include "runtime/data/npy.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_reader.h"
#include "tools/cli/command.h"
#include "tools/jobs/quadratic_couplings.h"
#include "tools/jobs/sampling_model.h"
#include "tools/picture/pictures.h"
#include "tools/plot/energies_picture.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

constexpr int kPointsPerCell = 2;  // in each direction
constexpr uint64_t kTruthDraws = 1000000;
constexpr uint64_t kTruthSeed = 1;

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

Canvas DrawLandscape(const std::string& input, const argparse::ArgumentParser& arguments) {
  const auto name = arguments.present("--density");
  if (!name) throw UsageError("plot landscape needs --density NAME, which tells how points become bits");
  const PlanarDensity& density = FindPlanarDensity(*name);
  // The outermost samples lie at about f_scale - 1.
  const PlaneGrid grid{.limit = density.f_scale - 0.5, .side = arguments.get<int>("--grid")};
  if (grid.side < 8 || grid.side > 2048) throw UsageError("--grid is from 8 to 2048 cells a side");
  const EnergyModel model = EnergyModel::FromFile(input, ChosenLoadOptions(arguments));
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

std::vector<double> ReadSquareMatrix(const std::string& path, int64_t side) {
  const NpyArray array = ReadNpy(path);
  if (array.shape != std::vector<int64_t>{side, side})
    throw Error(ErrorCode::kBadData, fmt::format("'{}' has the shape {}; a matrix of {} x {} is expected",
                                                 path, fmt::join(array.shape, " x "), side, side));
  return array.values;
}

Canvas DrawCouplings(const std::string& input, const argparse::ArgumentParser& arguments) {
  const EnergyModel model = LoadForSampling(input, ChosenLoadOptions(arguments), "gibbs");
  const std::vector<double> couplings = QuadraticCouplings(model, input);
  std::vector<double> truth;
  if (const auto path = arguments.present("--truth")) {
    truth = ReadSquareMatrix(*path, model.dimension());
    double squares = 0;
    for (size_t i = 0; i < truth.size(); ++i) squares += std::pow(truth[i] - couplings[i], 2);
    spdlog::info("-log RMSE of the couplings: {:.4f}",
                 -0.5 * std::log(squares / static_cast<double>(truth.size())));
  }
  return CouplingsPicture(couplings, truth, static_cast<int>(model.dimension()));
}

Canvas DrawEnergies(const std::string& input, const argparse::ArgumentParser& arguments) {
  const auto files = arguments.get<std::vector<std::string>>("--data");
  if (files.empty())
    throw UsageError("plot energies needs --data FILE, the rows to score; it may be given several times");
  const EnergyModel model = EnergyModel::FromFile(input, ChosenLoadOptions(arguments));
  std::vector<HistogramSeries> series;
  for (const std::string& file : files) {
    const RowTable table = ReadRows(file, {.columns = model.dimension()});
    std::vector<float> energies(static_cast<size_t>(table.rows));
    model.Energy(table.values, energies);
    series.push_back({std::filesystem::path(file).filename(), {energies.begin(), energies.end()}});
  }
  return EnergiesPicture(input, std::move(series));
}

}  // namespace

extern const PlotKind kLandscapePlot = {
    .name = "landscape",
    .summary = "energy and density over the plane beside the true density: MODEL --density NAME",
    .options = {"--density", "--grid"},
    .draw = DrawLandscape,
};

extern const PlotKind kCouplingsPlot = {
    .name = "couplings",
    .summary = "pairwise couplings of a quadratic model, beside the true ones: MODEL [--truth FILE]",
    .options = {"--truth"},
    .draw = DrawCouplings,
};

extern const PlotKind kEnergiesPlot = {
    .name = "energies",
    .summary = "histograms of the energies of data and samples: MODEL --data FILE [--data FILE]",
    .options = {"--data"},
    .draw = DrawEnergies,
};

}  // namespace ort_ed
