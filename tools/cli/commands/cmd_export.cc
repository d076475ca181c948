#include <spdlog/spdlog.h>

#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/train/export_model.h"
#include "tools/jobs/train/export_ort_training.h"

namespace ort_ed {
namespace {

struct ExportCommand {
  std::string source, output, ort_training;
  ExportOptions options;

  static void Describe(Declare<ExportCommand>& declare) {
    using C = ExportCommand;
    declare("source", &C::source, "PATH", "run directory of `ort-ed train`, or an .onnx file").Positional();
    declare("output", &C::output, "FILE", "the .onnx file to write").Letter('o');
    declare("ort_training", &C::ort_training, "DIR",
            "folder for models and checkpoint with which ONNX Runtime's own training goes on");
    declare.All(&C::options);
  }
};

void RefuseContradictions(const ExportCommand& command) {
  if (command.output.empty() && command.ort_training.empty())
    throw UsageError("name what to write: -o FILE, or --ort-training DIR");
  if (!command.output.empty()) return;
  const ExportOptions& options = command.options;
  const auto refuse = [](const char* key) {
    throw OptionError(key, "has no effect without `output`", OptionError::Problem::kNoEffect);
  };
  if (options.weights) refuse("weights");
  if (options.threshold > 0) refuse("threshold");
  if (options.with_gradient) refuse("with_gradient");
}

void WriteOrtTraining(const ExportCommand& command, Observer& observer) {
  const OrtTrainingResult result =
      ExportOrtTraining(command.source, command.ort_training, command.options.checkpoint, observer);
  spdlog::info("{}: {} parameters as of step {}", command.ort_training, result.parameters, result.step);
}

void WriteExport(const ExportCommand& command, Observer& observer) {
  const ExportResult result = ExportModel(command.source, command.options, observer);
  if (result.step) spdlog::info("checkpoint of step {}", *result.step);
  if (result.sparsity)
    spdlog::info("{} of {} values are zero", result.sparsity->zeros, result.sparsity->entries);
  WriteModel(result.model, command.output);
}

void RunExport(const ExportCommand& command) {
  RefuseContradictions(command);
  CheckOutputPaths({{"output", command.output}, {"ort_training", command.ort_training}},
                   {ModelOption("source", command.source)});
  Terminal terminal;
  if (!command.output.empty()) WriteExport(command, terminal);
  if (!command.ort_training.empty()) WriteOrtTraining(command, terminal);
}

}  // namespace

extern const Command kExportCommand = MakeCommand<ExportCommand, RunExport>(
    "export", "write the model of a training run as a deployable .onnx file",
    R"(  ort-ed export run -o model.onnx
  ort-ed export run --checkpoint 5000 --weights raw -o early.onnx
  ort-ed export run --with-gradient -o model.onnx
  ort-ed export run --threshold 0.05 --threshold-on G -o sparse.onnx
  ort-ed export run --ort-training artefacts
  ort-ed export my_energy.onnx --with-gradient -o with_gradient.onnx)");

}  // namespace ort_ed
