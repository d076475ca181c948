// The table of kinds of pictures.

#include "tools/plot/plot_kind.h"

namespace ort_ed {

std::span<const PlotKind* const> PlotKinds() {
  static constexpr const PlotKind* kinds[] = {&kLandscapePlot, &kPlanarPlot,   &kSamplesPlot,
                                              &kCouplingsPlot, &kEnergiesPlot, &kCurvesPlot};
  return kinds;
}

}  // namespace ort_ed
