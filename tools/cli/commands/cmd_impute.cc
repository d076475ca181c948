#include <iostream>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/explain/impute.h"
#include "tools/jobs/explain/variable_names.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/jobs/tables/number_table.h"

namespace ort_ed {
namespace {

struct ImputeCommand {
  std::string model, data, output, id;
  bool json = false;
  ImputeOptions impute;
  DeviceOptions device;

  static void Describe(Declare<ImputeCommand>& declare) {
    using C = ImputeCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("data", &C::data, "FILE", "rows with empty cells (or NA, ?, NaN)").Positional();
    declare("output", &C::output, "FILE",
            "the rows, with the probability of a 1 where a cell was empty: .npy, .csv or .tsv; - is CSV on "
            "the standard output. A column with several states becomes one for each of them")
        .Letter('o')
        .Required();
    declare("id", &C::id, "NAME", "a column of the table that is written in front of the probabilities");
    declare("json", &C::json, "", "print a summary as JSON on the standard output");
    declare.All(&C::impute);
    declare.All(&C::device);
  }
};

void RunImpute(const ImputeCommand& command) {
  CheckOutputPaths({{"output", command.output}},
                   {ModelOption("model", command.model), {"data", command.data}}, command.json);
  Terminal terminal;
  const LoadedModel model(command.model, command.device.Resolve(terminal));
  const Variables& variables = model.energy_model().variables();
  const ModelRows rows = OpenModelRows(
      command.data, variables, {.columns = model.dimension(), .allow_missing = true}, {.id = command.id});
  std::vector<std::string> names = rows.reader->column_names();
  if (variables.described()) names = NameBits(variables, *rows.reader);
  const auto writer =
      CreateNumberTable(command.output, rows, command.id, {.columns = model.dimension(), .names = names});
  ImputeResult result = Impute(model, *rows.reader, command.impute, *writer, terminal);
  TellOfStrangers(rows, command.data, result, terminal);
  writer->Commit();
  if (!command.json) {
    terminal.OnNotice(
        fmt::format("{} cells of {} rows; standard error of a probability {:.4f}, at most {:.4f}",
                    result.missing, result.rows, result.mean_standard_error, result.worst_standard_error));
    return;
  }
  nlohmann::ordered_json json = {
      {"model", command.model},
      {"output", command.output},
      {"rows", result.rows},
      {"missing", result.missing},
      {"standard_error", {{"mean", result.mean_standard_error}, {"max", result.worst_standard_error}}},
      {"seconds", result.seconds}};
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  std::cout << JsonText(json) << "\n";
}

}  // namespace

extern const Command kImputeCommand = MakeCommand<ImputeCommand, RunImpute>(
    "impute", "probabilities of missing values, given those that are known",
    "  ort-ed impute model.onnx holes.csv -o probabilities.csv\n"
    "  ort-ed impute run/best.onnx holes.csv --id customer -o probabilities.csv\n"
    "  ort-ed impute model.onnx holes.csv --chains 100 --steps 1000 --json -o probabilities.npy",
    "Empty cells become the probability that they are 1 given the others of their row, or, in a table with "
    "categories and numbers, the probability of every state. `ort-ed sample --clamp` draws values instead.");

}  // namespace ort_ed
