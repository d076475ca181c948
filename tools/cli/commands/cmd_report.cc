#include <optional>

#include <spdlog/fmt/fmt.h>

#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/report/report.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/report/report_page.h"

namespace ort_ed {
namespace {

struct ReportCommand {
  std::string model, data, output;
  ReportOptions report;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<ReportCommand>& declare) {
    using C = ReportCommand;
    declare("model", &C::model, "PATH", "a run folder or an .onnx file").Positional();
    declare("output", &C::output, "FILE.html", "the page").Letter('o').Required();
    declare(
        "data", &C::data, "FILE",
        "test rows, in any format of `score`, that the model is compared with; a header names the variables");
    declare.All(&C::report);
    declare.All(&C::binarise, Option::Condition{"data", "*"});
    declare.All(&C::device);
  }
};

void RefuseWithoutData(const ReportCommand& command) {
  constexpr char kReason[] = "has no effect without `data`";
  if (!command.data.empty()) return;
  if (!command.report.likelihood) throw OptionError("likelihood", kReason, OptionError::Problem::kNoEffect);
  if (command.report.estimator.kind != ReportOptions().estimator.kind)
    throw OptionError("estimator", kReason, OptionError::Problem::kNoEffect);
}

void RunReport(const ReportCommand& command) {
  RefuseWithoutData(command);
  CheckOutputPaths({{"output", command.output}},
                   {ModelOption("model", command.model), {"data", command.data}});
  if (!command.output.ends_with(".html"))
    throw OptionError("output",
                      fmt::format("must name a page, which ends in .html, not '{}'", command.output));
  AtomicFile file(
      command.output);  // opened first: that it cannot be written should not be found out at the end
  Terminal terminal;
  const ModelSource source = OpenSource(command.model, command.device.Resolve(terminal));
  const EnergyModel& model = source.model.energy_model();
  std::optional<ModelData> read;
  std::optional<ReportData> data;
  if (!command.data.empty()) {
    read = ReadModelData(command.data, model.variables(),
                         command.binarise.ForRows(command.report.seed, model.dimension()), terminal);
    data = {.name = command.data, .rows = std::move(read->rows), .names = std::move(read->names)};
  }
  ReportResult result = MakeReport(source, data ? &*data : nullptr, command.report, terminal);
  if (read) AddWarningsOf(*read, result);
  file.Write(ReportPage({source, result, data ? &*data : nullptr}));
  file.Commit();
  terminal.OnNotice(fmt::format("{}: open it in a browser", command.output));
}

}  // namespace

extern const Command kReportCommand = MakeCommand<ReportCommand, RunReport>(
    "report", "a run or a model as one HTML page: curves, samples, statistics, weights, settings",
    "  ort-ed report run --data test.npy -o report.html\n"
    "  ort-ed report model.onnx --data test.csv --no-likelihood -o report.html\n"
    "  ort-ed report model.onnx --sampler gwg --steps 500 -o report.html",
    "The page needs no network and no other file.");

}  // namespace ort_ed
