// Rows of bits as images.

#include <fmt/format.h>

#include "runtime/data/row_reader.h"
#include "runtime/support/text.h"
#include "tools/picture/pictures.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

constexpr int64_t kTiles = 100;

struct SamplesOptions {
  std::string shape;
  int64_t rows = 0;

  static void Describe(Declare<SamplesOptions>& declare) {
    declare("shape", &SamplesOptions::shape, "HxW", "height and width of a row as an image, e.g. 28x28");
    declare("rows", &SamplesOptions::rows, "[0, inf)", "rows to show at most; 0: as many as look well")
        .Letter('n');
  }
};

Canvas DrawSamples(const std::string& input, const SamplesOptions& options, const LoadOptions&, Observer&) {
  const auto shape = ParseShape(options.shape);
  if (!shape)
    throw OptionError(
        "shape", options.shape.empty()
                     ? "is missing; it is the height and width of a row as an image, e.g. 28x28"
                     : fmt::format("must be a height and a width such as 28x28, not '{}'", options.shape));
  const int64_t height = shape->at(0), width = shape->at(1);
  const RowTable table =
      ReadRows(input, {.columns = height * width}, options.rows == 0 ? kTiles : options.rows);
  return SampleGridPicture(table.values, static_cast<int>(height), static_cast<int>(width));
}

}  // namespace

const PlotKind kSamplesPlot = MakePlotKind<SamplesOptions, DrawSamples>(
    "samples", "rows of bits as a grid of images: FILE --shape HxW", false);

}  // namespace ort_ed
