// Rows of bits as points of the plane.

#include <fmt/format.h>

#include "runtime/data/row_reader.h"
#include "tools/picture/pictures.h"
#include "tools/plot/density_option.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

constexpr int64_t kPoints = 10000;
constexpr uint64_t kTruthSeed = 1;

struct PlanarOptions {
  DensityOption density;
  int64_t rows = 0;

  static void Describe(Declare<PlanarOptions>& declare) {
    declare.All(&PlanarOptions::density);
    declare("rows", &PlanarOptions::rows, "[0, inf)", "rows to show at most; 0: as many as look well")
        .Letter('n');
  }
};

Canvas DrawPlanar(const std::string& input, const PlanarOptions& options, const LoadOptions&, Observer&) {
  const PlanarDensity& density = options.density.Get();
  const PlanarCode code(density.f_scale);
  const RowTable table =
      ReadRows(input, {.columns = PlanarCode::kBits}, options.rows == 0 ? kPoints : options.rows);

  const double limit = density.f_scale - 0.5;  // the outermost samples lie at about f_scale - 1
  const Axis axis = {.low = -limit, .high = limit};
  PlaneChart given{.title = fmt::format("{} rows of the file", table.rows), .x = axis, .y = axis};
  PlaneChart truth{.title = fmt::format("{} true samples", table.rows), .x = axis, .y = axis};
  for (int64_t row = 0; row < table.rows; ++row) {
    const PlanarPoint point = code.Decode(table.Row(row));
    given.points.push_back({point.x, point.y});
    const PlanarPoint other = DrawPlanarPoint(density, kTruthSeed, static_cast<uint64_t>(row));
    truth.points.push_back({other.x, other.y});
  }
  return ChartPicture(std::vector<Chart>{given, truth}, 2);
}

}  // namespace

const PlotKind kPlanarPlot = MakePlotKind<PlanarOptions, DrawPlanar>(
    "planar", "rows of bits as points of the plane beside true ones: FILE --density NAME", false);

}  // namespace ort_ed
