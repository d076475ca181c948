#include <spdlog/fmt/fmt.h>

#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/device_options.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

struct PlotCommand {
  Choice kind;
  std::string input, output;
  DeviceOptions device;

  static void Describe(Declare<PlotCommand>& declare) {
    using C = PlotCommand;
    declare("kind", &C::kind, PlotTable, "what to draw").Positional();
    declare("input", &C::input, "INPUT", "a model, a file of rows or a run folder, as the kind says")
        .Positional();
    declare("output", &C::output, "FILE.png", "the picture").Letter('o').Required();
    declare.All(&C::device, Option::Condition{"kind", PlotsOfModels()});
  }
};

// The input, and the files that options of the kind name.
std::vector<PathOption> FilesRead(const PlotCommand& command) {
  std::vector<PathOption> files = {ModelOption("input", command.input)};
  for (const VisibleOption& each : VisibleOptions(SchemaOf<PlotCommand>())) {
    const auto given = command.kind.options.find(each.key);
    if (each.option->domain != "FILE" || given == command.kind.options.end()) continue;
    if (const auto* path = std::get_if<std::string>(&given->second)) files.push_back({each.key, *path});
    if (const auto* paths = std::get_if<std::vector<std::string>>(&given->second))
      for (const std::string& path : *paths) files.push_back({each.key, path});
  }
  return files;
}

void RunPlot(const PlotCommand& command) {
  CheckOutputPaths({{"output", command.output}}, FilesRead(command));
  const std::string output = PicturePath("output", command.output);
  AtomicFile file(output);  // opened first: that it cannot be written should not be found out at the end
  Terminal terminal;
  const Canvas picture = DrawPlot(command.kind, command.input, command.device.Resolve(terminal), terminal);
  file.Write(picture.Png());
  file.Commit();
  terminal.OnNotice(fmt::format("{}: {} x {} pixels", output, picture.width(), picture.height()));
}

}  // namespace

extern const Command kPlotCommand = MakeCommand<PlotCommand, RunPlot>(
    "plot", "draw pictures of models, samples and trainings",
    "  ort-ed plot landscape model.onnx --density pinwheel -o landscape.png\n"
    "  ort-ed plot planar samples.npy --density pinwheel -o samples.png\n"
    "  ort-ed plot samples digits.bits.npy --shape 28x28 -o digits.png\n"
    "  ort-ed plot couplings ising.onnx --truth J.npy -o couplings.png\n"
    "  ort-ed plot energies model.onnx --data test.npy --data samples.npy -o energies.png\n"
    "  ort-ed plot curves run/ -o curves.png");

}  // namespace ort_ed
