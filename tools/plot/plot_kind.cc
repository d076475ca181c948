#include "tools/plot/plot_kind.h"

namespace ort_ed {

KindTable PlotTable() { return ListKinds(PlotKinds()); }

std::string PlotsOfModels() {
  std::string names;
  for (const PlotKind* kind : PlotKinds())
    if (kind->runs_model) names += (names.empty() ? "" : "|") + std::string(kind->name);
  return names;
}

Canvas DrawPlot(const Choice& kind, const std::string& input, const LoadOptions& load, Observer& observer) {
  const ChosenKind chosen = Resolve(kind, PlotTable(), "kind").front();
  return PlotKinds()[chosen.row]->draw(input, chosen.options, load, observer);
}

}  // namespace ort_ed
