#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/commands/estimate_text.h"
#include "tools/cli/json_text.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/compare/compare.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/plot/compare_picture.h"

namespace ort_ed {
namespace {

struct CompareCommand {
  std::vector<std::string> models;
  std::string data, output;
  bool json = false;
  CompareOptions compare;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<CompareCommand>& declare) {
    using C = CompareCommand;
    declare("models", &C::models, "FILE",
            "two or more run folders or .onnx files; others are told against the first")
        .Positional();
    declare("data", &C::data, "FILE", "test rows, in any format of `score`").Required();
    declare("output", &C::output, "FILE.png",
            "a picture: the curves of runs, and the differences of all rows")
        .Letter('o');
    declare("json", &C::json, "", "print everything as JSON");
    declare.All(&C::compare);
    declare.All(&C::binarise);
    declare.All(&C::device);
  }
};

nlohmann::ordered_json ToJson(const ComparedModel& model) {
  nlohmann::ordered_json json = {
      {"name", model.name},
      {"file", model.file},
      {"log_likelihood",
       {{"mean", model.log_likelihood.value}, {"standard_error", model.log_likelihood.standard_error}}},
      {"log_z", ToJson(model.log_z)},
      {"difference",
       {{"mean", model.difference.value},
        {"standard_error", model.difference.standard_error},
        {"rows_error", model.rows_error},
        {"log_z_error", model.log_z_error}}},
      {"parameters", model.parameters}};
  if (model.cost.base_steps) json["base_steps"] = *model.cost.base_steps;
  if (model.cost.steps) json["steps"] = *model.cost.steps;
  if (model.cost.seconds) json["seconds"] = *model.cost.seconds;
  return json;
}

nlohmann::ordered_json ToJson(const CompareResult& result) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array(),
                         settings = nlohmann::ordered_json::object();
  for (const ComparedModel& model : result.models) models.push_back(ToJson(model));
  for (const DifferentSetting& setting : result.settings) settings[setting.key] = setting.values;
  nlohmann::ordered_json json = {{"rows", result.rows}, {"models", models}, {"settings", settings}};
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  return json;
}

using Table = std::vector<std::vector<std::string>>;  // rows of cells

void Print(const Table& table) {
  std::vector<size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : table) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    std::cout << line << "\n";
  }
}

void Print(const CompareResult& result) {
  Table table = {{"model", "log p of a row", "against the first", "log Z", "parameters", "steps", "seconds"}};
  for (const ComparedModel& model : result.models) {
    const bool first = &model == &result.models.front();
    table.push_back({model.name, WithError(model.log_likelihood.value, model.log_likelihood.standard_error),
                     first ? "-" : WithError(model.difference.value, model.difference.standard_error),
                     ToText(model.log_z), fmt::format("{}", model.parameters),
                     model.cost.steps ? DescribeSteps(model.cost) : "-",
                     model.cost.seconds ? fmt::format("{:.0f}", *model.cost.seconds) : "-"});
  }
  Print(table);
  std::cout << fmt::format("{} rows; differences are of the same rows, in nats, with their standard errors\n",
                           result.rows);
  if (result.settings.empty()) return;
  std::cout << "\nsettings that differ\n";
  Table settings;
  for (const DifferentSetting& setting : result.settings) {
    settings.push_back({"  " + setting.key});
    for (const std::string& value : setting.values) settings.back().push_back(value.empty() ? "-" : value);
  }
  Print(settings);
}

void RunCompare(const CompareCommand& command) {
  if (command.models.size() < 2)
    throw UsageError("name two or more models to compare: run folders or .onnx files");
  std::vector<PathOption> inputs = {{"data", command.data}};
  for (const std::string& model : command.models) inputs.push_back(ModelOption("models", model));
  CheckOutputPaths({{"output", command.output}}, inputs, command.json);
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> picture;
  if (!command.output.empty()) picture.emplace(PicturePath("output", command.output));
  Terminal terminal;
  const LoadOptions load = command.device.Resolve(terminal);
  std::vector<ModelSource> sources;
  for (const std::string& model : command.models) sources.push_back(OpenSource(model, load));
  const EnergyModel& first = sources.front().model.energy_model();
  const ModelData data =
      ReadModelData(command.data, first.variables(),
                    command.binarise.ForRows(command.compare.seed, first.dimension()), terminal);
  CompareResult result = Compare(sources, data.rows, command.compare, terminal);
  AddWarningsOf(data, result);
  if (command.json) {
    std::cout << JsonText(ToJson(result)) << "\n";
  } else {
    Print(result);
  }
  std::cout.flush();
  if (!picture) return;
  picture->Write(ComparePicture(sources, result).Png());
  picture->Commit();
}

}  // namespace

extern const Command kCompareCommand = MakeCommand<CompareCommand, RunCompare>(
    "compare", "which of several models is better on test data, and what they differ in",
    "  ort-ed compare run1 run2 --data test.npy -o compare.png\n"
    "  ort-ed compare old.onnx new.onnx --data test.csv --json\n"
    "  ort-ed compare a.onnx b.onnx --data test.npy --estimator ais --temperatures 10000 --chains 200");

}  // namespace ort_ed
