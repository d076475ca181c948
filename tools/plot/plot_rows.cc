// Pictures of files of rows: `ort-ed plot samples` and `ort-ed plot planar`.

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_reader.h"
#include "runtime/support/text.h"
#include "tools/cli/command.h"
#include "tools/picture/pictures.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

constexpr int64_t kTiles = 100;
constexpr int64_t kPoints = 10000;
constexpr uint64_t kTruthSeed = 1;

int64_t RowsToShow(const argparse::ArgumentParser& arguments, int64_t usual) {
  const auto rows = arguments.get<int64_t>("--rows");
  if (rows < 0) throw UsageError(fmt::format("-n {} is not a number of rows", rows));
  return rows == 0 ? usual : rows;
}

Canvas DrawSamples(const std::string& input, const argparse::ArgumentParser& arguments) {
  const auto text = arguments.present("--shape");
  if (!text) throw UsageError("plot samples needs --shape HxW, the height and width of a row as an image");
  const auto shape = ParseShape(*text);
  if (!shape) throw UsageError(fmt::format("--shape {} is not a height and a width such as 28x28", *text));
  const int64_t height = shape->at(0), width = shape->at(1);
  const RowTable table = ReadRows(input, {.columns = height * width}, RowsToShow(arguments, kTiles));
  return SampleGridPicture(table.values, static_cast<int>(height), static_cast<int>(width));
}

Canvas DrawPlanar(const std::string& input, const argparse::ArgumentParser& arguments) {
  const auto name = arguments.present("--density");
  if (!name) throw UsageError("plot planar needs --density NAME, which tells how bits become points");
  const PlanarDensity& density = FindPlanarDensity(*name);
  const PlanarCode code(density.f_scale);
  const RowTable table = ReadRows(input, {.columns = PlanarCode::kBits}, RowsToShow(arguments, kPoints));

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

extern const PlotKind kSamplesPlot = {
    .name = "samples",
    .summary = "rows of bits as a grid of images: FILE --shape HxW",
    .options = {"--shape", "--rows"},
    .draw = DrawSamples,
};

extern const PlotKind kPlanarPlot = {
    .name = "planar",
    .summary = "rows of bits as points of the plane beside true ones: FILE --density NAME",
    .options = {"--density", "--rows"},
    .draw = DrawPlanar,
};

}  // namespace ort_ed
