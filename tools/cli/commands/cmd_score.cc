#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>

#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/launch/processes.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/score/score.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/jobs/tables/number_table.h"

namespace ort_ed {
namespace {

struct ScoreCommand {
  std::string model, data, output, reference, id;
  bool json = false;
  bool anomaly = false;
  bool marginalise = false;
  int64_t batch = 0;
  std::optional<int64_t> seed;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<ScoreCommand>& declare) {
    using C = ScoreCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("data", &C::data, "FILE",
            "rows of 0 and 1: .npy, .bits.npy, .csv, .tsv or IDX, also .gz; - is stdin, whose lines are "
            "scored as they come. Of a model of a table such tables, whose columns are found by name")
        .Positional();
    declare("output", &C::output, "FILE",
            "where the energies go: .npy, .csv or .tsv; without it CSV on stdout")
        .Letter('o');
    declare("id", &C::id, "NAME", "a column of the table that is written in front of the energies");
    declare("json", &C::json, "", "print a summary as JSON on stdout; the energies then go only to --output");
    declare("anomaly", &C::anomaly, "",
            "also how odd each row is: the fraction of the training rows that are less odd, which the model "
            "carries from its training");
    declare("reference", &C::reference, "FILE", "rows that take the place of the training rows")
        .When("anomaly", "true");
    declare("marginalise", &C::marginalise, "",
            "missing cells are unknown: the energy is minus the logarithm of the sum of exp(-energy) over "
            "all of their states, exact up to 2^14 states in a row, else an estimate; with a column of "
            "standard errors. Not with --anomaly: what is known of a row is always likelier than a whole one")
        .When("anomaly", "false");
    declare("batch", &C::batch, "[0, inf)",
            "rows scored at once, shared among the threads; 0: chosen to fit the cache");
    declare.All(&C::binarise);
    declare("seed", &C::seed, "[0, inf)", "of the bits that are drawn, and of estimates").Default("0");
    declare.All(&C::device);
  }
};

nlohmann::ordered_json ToJson(const ColumnStatistics& column) {
  return {{"mean", column.mean()},
          {"standard_deviation", column.standard_deviation()},
          {"min", column.min()},
          {"max", column.max()}};
}

nlohmann::ordered_json ToJson(const ScoreCommand& command, const EnergyModel& model,
                              const EnergySketch* reference, const MarginalEnergy* marginal,
                              const ScoreResult& result) {
  nlohmann::ordered_json json = {
      {"model", command.model},          {"data", command.data},
      {"rows", result.energy.count()},   {"dimension", model.dimension()},
      {"energy", ToJson(result.energy)}, {"not_finite", result.energy.not_finite()},
  };
  if (result.log_likelihood) {
    const LogZ& log_z = *model.metadata().log_z;
    json["log_likelihood"] = ToJson(*result.log_likelihood);
    json["log_z"] = {
        {"value", log_z.value}, {"standard_error", log_z.standard_error}, {"method", log_z.method}};
  }
  if (result.anomaly) {
    json["anomaly"] = ToJson(result.anomaly->fraction);
    json["anomaly"]["above_0.95"] = result.anomaly->above_95;
    json["anomaly"]["above_0.99"] = result.anomaly->above_99;
    json["anomaly"]["reference"] = command.reference.empty() ? "training rows" : command.reference;
    json["anomaly"]["reference_rows"] = reference->rows;
  }
  if (marginal != nullptr) {
    const MarginalisedRows& found = marginal->found();
    json["marginalised"] = {{"rows", found.rows}, {"estimated", found.estimated}};
    if (found.estimated > 0) json["marginalised"]["largest_standard_error"] = found.largest_error;
  }
  json["device"] = ToString(model.device());
  json["seconds"] = result.seconds;
  json["rows_per_second"] = static_cast<double>(result.energy.count()) / result.seconds;
  if (!command.output.empty()) json["output"] = command.output;
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  return json;
}

// What anomalies are told from, if they are asked for.
std::optional<EnergySketch> FindReference(const ScoreCommand& command, const EnergyModel& model,
                                          const RowOptions& options, Observer& observer) {
  if (!command.anomaly) return std::nullopt;
  if (command.reference.empty()) return TrainingEnergies(model, command.model);
  return SketchReference(model, *OpenModelRows(command.reference, model.variables(), options).reader,
                         observer);
}

void RequireUseOfSeed(const ScoreCommand& command) {
  if (command.seed && !command.marginalise && command.binarise.binarise != Binarise::kStochastic)
    throw OptionError("seed", "has no effect without --binarise once or --marginalise",
                      OptionError::Problem::kNoEffect);
}

void RunScore(const ScoreCommand& command) {
  RequireUseOfSeed(command);
  CheckOutputPaths(
      {{"output", command.output}},
      {ModelOption("model", command.model), {"data", command.data}, {"reference", command.reference}},
      command.json);
  Terminal terminal;
  RequireSameFiles(Processes(), {command.model, command.data, command.reference});
  LoadOptions load = command.device.Resolve(terminal);
  load.batch_rows = command.batch;
  const EnergyModel model = EnergyModel::FromFile(ModelFile(command.model), load);
  const auto seed = static_cast<uint64_t>(command.seed.value_or(0));
  RowOptions row_options = command.binarise.ForRows(seed, model.dimension());
  std::optional<MarginalEnergy> marginal;
  if (command.marginalise) {
    row_options.allow_missing = true;
    marginal.emplace(model, seed, command.device.threads);
  }
  const std::optional<EnergySketch> reference = FindReference(command, model, row_options, terminal);
  const ModelRows rows = OpenModelRows(command.data, model.variables(), row_options, {.id = command.id});
  const std::string output = command.output.empty() && !command.json ? "-" : command.output;
  const std::vector<std::string> names = ScoreColumns(model, command.anomaly, command.marginalise);
  std::unique_ptr<RowWriter<float>> writer;
  if (!command.id.empty() && output.empty())
    throw OptionError("id", "has no effect without energies, which --json writes only to --output",
                      OptionError::Problem::kNoEffect);
  if (!output.empty())
    writer = CreateNumberTable(output, rows, command.id,
                               {.columns = std::ssize(names), .vector = names.size() == 1, .names = names});
  ScoreResult result = Score(model, *rows.reader, writer.get(), terminal, reference ? &*reference : nullptr,
                             marginal ? &*marginal : nullptr);
  TellOfStrangers(rows, command.data, result, terminal);
  if (writer) writer->Commit();
  if (command.json)
    std::cout << JsonText(ToJson(command, model, reference ? &*reference : nullptr,
                                 marginal ? &*marginal : nullptr, result))
              << "\n";
}

}  // namespace

extern const Command kScoreCommand = MakeCommand<ScoreCommand, RunScore>(
    "score", "energies, and log-likelihoods where the model carries log Z, of rows of data",
    "  ort-ed score model.onnx test.npy                  energies as CSV on stdout, with a header line\n"
    "  ort-ed score model.onnx test.csv -o energies.npy  float32 array: rows, or rows x 2 with\n"
    "                                                    log-likelihoods behind the energies\n"
    "  zcat rows.csv.gz | ort-ed score model.onnx - --json\n"
    "  ort-ed score run/best.onnx customers.csv --id customer -o odd.csv\n"
    "  ort-ed score model.onnx new.csv --anomaly -o odd.csv    1: odder than every training row\n"
    "  ort-ed score model.onnx new.csv --anomaly --reference normal.csv --json\n"
    "  ort-ed score model.onnx holes.csv --marginalise   log-likelihoods of what is known\n"
    "  ort-ed score model.onnx grey.npy --binarise once --seed 1 -o energies.csv");

}  // namespace ort_ed
