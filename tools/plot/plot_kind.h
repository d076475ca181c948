#pragma once

#include <span>
#include <string>

#include "ort_ed/energy_model.h"
#include "ort_ed/options.h"
#include "tools/jobs/observer.h"
#include "tools/picture/canvas.h"

namespace ort_ed {

// One kind of picture. Adding one: write plot_<kind>.cc with its options and its function, declare its row
// below and add it to the table in plot_kinds.cc.
struct PlotKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  // `input`: a model, a file of rows or the folder of a run, as the summary says. `load`: how a model runs.
  Canvas (*draw)(const std::string& input, const OptionMap& options, const LoadOptions& load,
                 Observer& observer);
  bool runs_model;
};

template <typename Options, Canvas (*Draw)(const std::string&, const Options&, const LoadOptions&, Observer&)>
constexpr PlotKind MakePlotKind(const char* name, const char* summary, bool runs_model) {
  return {name, summary, &SchemaOf<Options>,
          [](const std::string& input, const OptionMap& options, const LoadOptions& load,
             Observer& observer) { return Draw(input, MakeOptions<Options>(options), load, observer); },
          runs_model};
}

extern const PlotKind kLandscapePlot;
extern const PlotKind kPlanarPlot;
extern const PlotKind kSamplesPlot;
extern const PlotKind kCouplingsPlot;
extern const PlotKind kEnergiesPlot;
extern const PlotKind kCurvesPlot;

// The table of kinds.
std::span<const PlotKind* const> PlotKinds();
KindTable PlotTable();
// Those that run a model, "landscape|energies", as Declare's When() wants them.
std::string PlotsOfModels();

// Throws OptionError, of `kind` for an unknown name, and whatever reading the input throws.
Canvas DrawPlot(const Choice& kind, const std::string& input, const LoadOptions& load, Observer& observer);

}  // namespace ort_ed
