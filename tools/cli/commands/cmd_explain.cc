#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "runtime/data/row_writer.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/explain/explain.h"
#include "tools/jobs/explain/variable_names.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/jobs/tables/number_table.h"
#include "tools/picture/surprise_picture.h"

namespace ort_ed {
namespace {

struct ExplainCommand {
  std::string model, data, output, conditionals, id;
  bool json = false;
  uint64_t seed = 0;
  ExplainOptions explain;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<ExplainCommand>& declare) {
    using C = ExplainCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("data", &C::data, "FILE",
            "rows to explain, in any format of `score`; a header of a text file names the variables")
        .Positional();
    declare("output", &C::output, "FILE.png",
            "a picture of the rows of highest energy: how much each variable surprises")
        .Letter('o');
    declare("conditionals", &C::conditionals, "FILE",
            "log-probabilities of all variables given the others, one row for each of the data: .npy, .csv "
            "or .tsv");
    declare("id", &C::id, "NAME", "a column of the table that is told with each row");
    declare("json", &C::json, "", "print everything as JSON");
    declare.All(&C::explain);
    declare.All(&C::binarise);
    declare("seed", &C::seed, "[0, inf)", "of the bits that are drawn").When("binarise", "once");
    declare.All(&C::device);
  }
};

// Keeps the rows of highest energy and draws them in the order of the file.
class OddRows {
 public:
  explicit OddRows(const Variables& variables)
      : variables_(variables), most_(std::clamp<int64_t>((1 << 20) / variables.size(), 1, 36)) {}

  void Add(const RowExplanation& row, const std::string& id) {
    if (std::ssize(rows_) == most_) {
      const auto least =
          std::ranges::min_element(rows_, {}, [](const OddRow& odd) { return odd.explanation.energy; });
      if (!(row.energy > least->explanation.energy)) return;
      rows_.erase(least);
    }
    rows_.push_back({row, id});
  }

  Canvas Draw(const std::vector<std::string>& names, const std::optional<std::vector<int64_t>>& shape) const {
    std::vector<SurpriseRow> rows;
    for (const auto& [row, id] : rows_) {
      rows.push_back({id.empty() ? fmt::format("row {}", row.row + 1) : Shortened(id), Bits(row),
                      row.log_probabilities, row.top.empty() ? "" : Note(row.top.front(), names)});
      for (float& value : rows.back().surprise) value = -value;
    }
    if (shape && variables_.all_binary())
      return SurpriseImagesPicture(rows, static_cast<int>((*shape)[0]), static_cast<int>((*shape)[1]));
    std::vector<std::string> short_names;
    for (const std::string& name : names) short_names.push_back(Shortened(name));
    return SurpriseStripsPicture(rows, short_names);
  }

 private:
  struct OddRow {
    RowExplanation explanation;
    std::string id;
  };

  static std::string Shortened(const std::string& text) { return fmt::format("{:.30}", text); }

  // "temp = -9 to -7 (3.2), expected 2 to 4".
  std::string Note(const Surprise& most, const std::vector<std::string>& names) const {
    const auto state = [&](int64_t value) { return Shortened(NameState(variables_, most.variable, value)); };
    return fmt::format("{} = {} ({:.1f}){}", Shortened(names[static_cast<size_t>(most.variable)]),
                       state(most.value), -most.log_probability,
                       most.expected == most.value ? "" : ", expected " + state(most.expected));
  }

  // The states of other than binary variables are no black and white.
  std::vector<uint8_t> Bits(const RowExplanation& row) const {
    if (!variables_.all_binary()) return {};
    return {row.values.begin(), row.values.end()};
  }

  Variables variables_;
  int64_t most_;
  std::vector<OddRow> rows_;
};

// 0 and 1 are numbers, all other states have names.
nlohmann::ordered_json StateJson(const Variables& variables, int64_t variable, int64_t state) {
  const bool bare =
      variables.bits(variable) == 1 && (!variables.described() || variables[variable].labels.empty());
  if (bare) return state;
  return NameState(variables, variable, state);
}

nlohmann::ordered_json ToJson(const RowExplanation& row, const std::string& id, const Variables& variables,
                              const std::vector<std::string>& names) {
  nlohmann::ordered_json top = nlohmann::ordered_json::array();
  for (const Surprise& each : row.top)
    top.push_back({{"column", each.variable + 1},
                   {"name", names[static_cast<size_t>(each.variable)]},
                   {"value", StateJson(variables, each.variable, each.value)},
                   {"log_probability", each.log_probability},
                   {"expected", StateJson(variables, each.variable, each.expected)},
                   {"expected_probability", each.expected_probability}});
  nlohmann::ordered_json json = {{"row", row.row + 1}};
  if (!id.empty()) json["id"] = id;
  json["energy"] = row.energy;
  json["log_pseudo_likelihood"] = row.log_pseudo_likelihood;
  json["surprising"] = top;
  return json;
}

// Rows are written as they come: there may be more than memory holds. Bytes that are no UTF-8 become U+FFFD.
class JsonPrinter {
 public:
  JsonPrinter(const ExplainCommand& command, const Variables& variables,
              const std::vector<std::string>& names)
      : command_(command), variables_(variables), names_(names) {}

  void Row(const RowExplanation& row, const std::string& id) {
    if (row.row == 0)
      std::cout << "{\"model\": " << Text(command_.model) << ",\n\"data\": " << Text(command_.data)
                << ",\n\"rows\": [";
    std::cout << (row.row == 0 ? "\n" : ",\n") << Text(ToJson(row, id, variables_, names_));
  }

  void End(const ExplainResult& result) {
    nlohmann::ordered_json variables = nlohmann::ordered_json::array();
    for (size_t i = 0; i < names_.size(); ++i)
      variables.push_back({{"name", names_[i]}, {"mean_log_probability", result.mean_log_probabilities[i]}});
    std::cout << "\n],\n\"variables\": " << Text(variables) << ",\n\"quadratic\": " << Text(result.quadratic)
              << ",\n\"seconds\": " << Text(result.seconds);
    if (!result.warnings.empty()) std::cout << ",\n\"warnings\": " << Text(result.warnings);
    std::cout << "}\n";
  }

 private:
  static std::string Text(const nlohmann::ordered_json& json) { return JsonText(json, -1); }

  const ExplainCommand& command_;
  Variables variables_;
  const std::vector<std::string>& names_;
};

std::string Probability(double p) { return p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.3f}", p); }

void PrintRow(const RowExplanation& row, const std::string& id, const Variables& variables,
              const std::vector<std::string>& names) {
  size_t width = 0;
  for (const Surprise& each : row.top)
    width = std::max(width, names[static_cast<size_t>(each.variable)].size());
  std::cout << fmt::format("row {}{}: energy {:.4f}, all variables given the others {:.4f} nats\n",
                           row.row + 1, id.empty() ? "" : " (" + id + ")", row.energy,
                           row.log_pseudo_likelihood);
  for (const Surprise& each : row.top) {
    const std::string expected =
        each.expected == each.value
            ? "as expected"
            : fmt::format("expected {} with {}", NameState(variables, each.variable, each.expected),
                          Probability(each.expected_probability));
    std::cout << fmt::format("  {:<{}}  is {} with probability {}, {}\n",
                             names[static_cast<size_t>(each.variable)], width,
                             NameState(variables, each.variable, each.value),
                             Probability(std::exp(each.log_probability)), expected);
  }
}

void RunExplain(const ExplainCommand& command) {
  CheckOutputPaths({{"output", command.output}, {"conditionals", command.conditionals}},
                   {ModelOption("model", command.model), {"data", command.data}}, command.json);
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> picture;
  if (!command.output.empty()) picture.emplace(PicturePath("output", command.output));
  Terminal terminal;
  const LoadedModel model(command.model, command.device.Resolve(terminal));
  const Variables& variables = model.energy_model().variables();
  const ModelRows rows = OpenModelRows(
      command.data, variables, command.binarise.ForRows(command.seed, model.dimension()), {.id = command.id});
  const std::vector<std::string> names = NameVariables(variables, *rows.reader);
  std::unique_ptr<RowWriter<float>> writer;
  if (!command.conditionals.empty())
    writer = CreateNumberTable(command.conditionals, rows, command.id,
                               {.columns = std::ssize(names), .names = names}, "conditionals");
  OddRows odd(variables);
  JsonPrinter json(command, variables, names);
  const auto id_of = [&](const RowExplanation& row) {
    if (command.id.empty()) return std::string();
    const std::vector<std::string>& ids = rows.table->ids();  // of the rows that were read last
    return ids[static_cast<size_t>(row.row - rows.table->rows_read() + std::ssize(ids))];
  };
  ExplainResult result = Explain(
      model, *rows.reader, command.explain,
      [&](const RowExplanation& row) {
        if (writer) writer->Write(row.log_probabilities);
        if (picture) odd.Add(row, id_of(row));
        command.json ? json.Row(row, id_of(row)) : PrintRow(row, id_of(row), variables, names);
      },
      terminal);
  TellOfStrangers(rows, command.data, result, terminal);
  if (command.json) json.End(result);
  if (writer) writer->Commit();
  if (!picture) return;
  picture->Write(odd.Draw(names, model.metadata().image_shape).Png());
  picture->Commit();
}

}  // namespace

extern const Command kExplainCommand = MakeCommand<ExplainCommand, RunExplain>(
    "explain", "why rows are odd: the variables whose values surprise the model",
    "  ort-ed explain model.onnx odd.csv --top 3\n"
    "  ort-ed explain run/best.onnx customers.csv --id customer --top 3\n"
    "  ort-ed explain model.onnx odd.csv -o surprise.png --json > odd.json\n"
    "  ort-ed explain model.onnx test.npy --conditionals conditionals.npy > explained.txt",
    "For each row: the conditional probability of every variable's value given all the others, exactly, from "
    "the energies of the states that differ in that variable. The least probable values come first, each "
    "with "
    "the value that the model expected.");

}  // namespace ort_ed
