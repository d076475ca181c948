// Histograms of energies.

#include <filesystem>

#include "tools/jobs/loaded_model.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/plot/energies_picture.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

struct EnergiesOptions {
  std::vector<std::string> data;

  static void Describe(Declare<EnergiesOptions>& declare) {
    declare("data", &EnergiesOptions::data, "FILE", "rows to score; may be given several times");
  }
};

Canvas DrawEnergies(const std::string& input, const EnergiesOptions& options, const LoadOptions& load,
                    Observer&) {
  if (options.data.empty())
    throw OptionError("data", "is missing; it names the rows to score and may be given several times");
  const EnergyModel model = EnergyModel::FromFile(ModelFile(input), load);
  std::vector<HistogramSeries> series;
  for (const std::string& file : options.data) {
    const RowTable table = ReadModelRows(file, model.variables(), {.columns = model.dimension()});
    std::vector<float> energies(static_cast<size_t>(table.rows));
    model.Energy(table.values, energies);
    series.push_back({std::filesystem::path(file).filename(), {energies.begin(), energies.end()}});
  }
  return EnergiesPicture(input, std::move(series));
}

}  // namespace

const PlotKind kEnergiesPlot = MakePlotKind<EnergiesOptions, DrawEnergies>(
    "energies", "histograms of the energies of data and samples: MODEL --data FILE [--data FILE]", true);

}  // namespace ort_ed
