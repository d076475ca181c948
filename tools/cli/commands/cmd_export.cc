#include <spdlog/spdlog.h>

#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/train/export_model.h"

namespace ort_ed {
namespace {

struct ExportCommand {
  std::string source, output;
  ExportOptions options;

  static void Describe(Declare<ExportCommand>& declare) {
    using C = ExportCommand;
    declare("source", &C::source, "PATH", "run directory of `ort-ed train`, or an .onnx file").Positional();
    declare("output", &C::output, "FILE", "the .onnx file to write").Letter('o').Required();
    declare.All(&C::options);
  }
};

void RunExport(const ExportCommand& command) {
  CheckOutputPaths({{"output", command.output}}, {ModelOption("source", command.source)});
  Terminal terminal;
  const ExportResult result = ExportModel(command.source, command.options, terminal);
  if (result.step) spdlog::info("checkpoint of step {}", *result.step);
  if (result.sparsity)
    spdlog::info("{} of {} values are zero", result.sparsity->zeros, result.sparsity->entries);
  WriteModel(result.model, command.output);
}

}  // namespace

extern const Command kExportCommand = MakeCommand<ExportCommand, RunExport>(
    "export", "write the model of a training run as a deployable .onnx file",
    R"(  ort-ed export run -o model.onnx
  ort-ed export run --checkpoint 5000 --weights raw -o early.onnx
  ort-ed export run --with-gradient -o model.onnx
  ort-ed export run --threshold 0.05 --threshold-on G -o sparse.onnx
  ort-ed export my_energy.onnx --with-gradient -o with_gradient.onnx)");

}  // namespace ort_ed
