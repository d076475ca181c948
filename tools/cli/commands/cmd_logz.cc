#include <iostream>
#include <optional>

#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/commands/estimate_text.h"
#include "tools/cli/json_text.h"
#include "tools/cli/launch/processes.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/log_z/annealing_state_file.h"
#include "tools/jobs/log_z/estimate_log_z.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/tables/model_rows.h"

namespace ort_ed {
namespace {

struct LogZCommand {
  std::string model, data, state;
  bool write = false;
  bool json = false;
  LogZOptions log_z;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<LogZCommand>& declare) {
    using C = LogZCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("write", &C::write, "",
            "write log Z, its error and method into the model's metadata, for `score`; an estimate that is "
            "not reliable is not written");
    declare("json", &C::json, "", "print the estimate as JSON");
    declare("state", &C::state, "FILE",
            "keeps the state of a long annealing here; the same command continues from it")
        .When("estimator", "ais|raise|auto");
    declare("data", &C::data, "FILE",
            "rows from which raise starts, as many as there are chains, drawn by "
            "the seed")
        .Default("samples of the model, which ais draws")
        .When("estimator", "raise");
    declare.All(&C::binarise, Option::Condition{"data", "*"});
    declare.All(&C::log_z);
    declare.All(&C::device);
  }
};

// Whatever the text: all of it is out before anything is removed.
void Print(const LogZCommand& command, const LogZEstimate& estimate) {
  if (command.json) {
    std::cout << JsonText(ToJson(estimate)) << "\n";
  } else {
    std::cout << "log Z  " << ToText(estimate) << "\n";
  }
  if (!std::cout.flush())
    throw Error(ErrorCode::kIo, "cannot write to the standard output (disk full or pipe closed)");
}

void RunLogZ(const LogZCommand& command) {
  CheckOutputPaths({{"state", command.state}}, {ModelOption("model", command.model), {"data", command.data}});
  Terminal terminal;
  RequireSameFiles(Processes(), {command.model, command.data});
  const LoadedModel model(command.model, command.device.Resolve(terminal));
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> writable;
  if (command.write) writable.emplace(command.model);
  std::optional<RowTable> data;
  if (!command.data.empty())
    data = ReadModelRows(command.data, model.energy_model().variables(),
                         command.binarise.ForRows(command.log_z.seed, model.dimension()));
  const LogZResult result =
      EstimateLogZ(model, command.log_z, data ? &*data : nullptr, command.state, terminal);
  Print(command, result.estimate);
  if (Processes().rank() != 0) return;
  if (command.write) {
    writable.reset();
    WriteLogZ(model, result.estimate);
    terminal.OnNotice("wrote log Z into the metadata of '" + command.model + "'");
  }
  // Last: until here the same command would have the result again at once.
  if (!result.state_file.empty()) RemoveState(result.state_file);
}

}  // namespace

extern const Command kLogZCommand = MakeCommand<LogZCommand, RunLogZ>(
    "logz", "estimate log Z, the normaliser of a model",
    "  ort-ed logz model.onnx --write                                       exact where that is cheap\n"
    "  ort-ed logz model.onnx --temperatures 10000 --chains 100 --write     annealed importance sampling\n"
    "  ort-ed logz model.onnx --estimator raise --temperatures 10000 --json in reverse\n"
    "  ort-ed logz model.onnx --temperatures 300000 --chains 500 --state ais.state\n"
    "                                          a long run that can be interrupted and continued");

}  // namespace ort_ed
