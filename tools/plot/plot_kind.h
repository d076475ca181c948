#pragma once

#include <string>
#include <vector>

#include <argparse/argparse.hpp>

#include "tools/picture/canvas.h"

namespace ort_ed {

// One kind of picture of `ort-ed plot`. Adding one: write its function, declare its row here and add it to
// the table in cmd_plot.cc.
struct PlotKind {
  const char* name;
  const char* summary;
  std::vector<std::string> options;  // those of cmd_plot.cc that mean something to it
  Canvas (*draw)(const std::string& input, const argparse::ArgumentParser& arguments);
};

extern const PlotKind kLandscapePlot;
extern const PlotKind kCouplingsPlot;
extern const PlotKind kSamplesPlot;
extern const PlotKind kPlanarPlot;
extern const PlotKind kCurvesPlot;
extern const PlotKind kEnergiesPlot;

}  // namespace ort_ed
