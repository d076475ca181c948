#include <spdlog/spdlog.h>

#include "runtime/support/atomic_file.h"
#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/foreign_options.h"
#include "tools/cli/output_paths.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

const std::vector<const PlotKind*>& Kinds() {
  static const std::vector<const PlotKind*> kinds = {&kLandscapePlot, &kPlanarPlot,   &kSamplesPlot,
                                                     &kCouplingsPlot, &kEnergiesPlot, &kCurvesPlot};
  return kinds;
}

// Those that mean something to some kinds only.
const std::vector<std::string> kOptions = {"--density", "--shape", "--truth", "--grid", "--rows", "--data"};

void AddArguments(argparse::ArgumentParser& parser) {
  std::string kinds = "what to draw:";
  for (const PlotKind* kind : Kinds()) kinds += fmt::format("\n  {:<12}{}", kind->name, kind->summary);
  parser.add_argument("kind").metavar("KIND").help(kinds);
  parser.add_argument("input").metavar("INPUT").help(
      "a model, a file of rows or a run folder, as the kind says");
  parser.add_argument("-o", "--output").required().metavar("FILE.png").help("the picture");
  parser.add_argument("--density")
      .metavar("NAME")
      .help("the planar density behind the data (landscape, planar)");
  parser.add_argument("--shape").metavar("HxW").help(
      "height and width of a row as an image, e.g. 28x28 (samples)");
  parser.add_argument("--truth").metavar("FILE").help("the true couplings, a square .npy matrix (couplings)");
  parser.add_argument("--data").append().metavar("FILE").help(
      "rows to score; may be given several times (energies)");
  parser.add_argument("--grid").default_value(240).scan<'i', int>().metavar("N").help(
      "cells a side (landscape)");
  parser.add_argument("-n", "--rows")
      .default_value(int64_t{0})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("rows to show at most; 0: as many as look well (samples, planar)");
  AddDeviceArguments(parser);
}

void Run(const argparse::ArgumentParser& arguments) {
  const PlotKind& kind = *FindNamed(Kinds(), arguments.get("kind"), "kind of picture");
  RefuseForeignOptions(arguments, kOptions, kind.options, fmt::format("`ort-ed plot {}`", kind.name));
  CheckOutputPaths(arguments, {"--output"}, {"input", "--truth"});
  const std::string output = PicturePath(arguments.get("--output"));
  AtomicFile file(output);  // opened first: that it cannot be written should not be found out at the end
  const Canvas picture = kind.draw(arguments.get("input"), arguments);
  file.Write(picture.Png());
  file.Commit();
  spdlog::info("{}: {} x {} pixels", output, picture.width(), picture.height());
}

}  // namespace

extern const Command kPlotCommand = {
    .name = "plot",
    .summary = "draw pictures of models, samples and trainings",
    .examples =
        "  ort-ed plot landscape model.onnx --density pinwheel -o landscape.png\n"
        "  ort-ed plot planar samples.npy --density pinwheel -o samples.png\n"
        "  ort-ed plot samples digits.bits.npy --shape 28x28 -o digits.png\n"
        "  ort-ed plot couplings ising.onnx --truth J.npy -o couplings.png\n"
        "  ort-ed plot energies model.onnx --data test.npy --data samples.npy -o energies.png\n"
        "  ort-ed plot curves run/ -o curves.png",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
