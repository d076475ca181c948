#include <iostream>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "ort_ed/metadata.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/check.h"
#include "tools/jobs/inspect.h"
#include "tools/jobs/quadratic_couplings.h"
#include "tools/jobs/tables/guess_variables.h"

namespace ort_ed {
namespace {

struct InspectCommand {
  std::string model, couplings;
  bool json = false;

  static void Describe(Declare<InspectCommand>& declare) {
    using C = InspectCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("json", &C::json, "", "everything as one JSON object");
    declare("couplings", &C::couplings, "FILE",
            "of an Ising-like model: writes J of U = const - h's - s'Js, s = 2x - 1: .npy, .csv or .tsv");
  }
};

// Whether a gradient passes through the operator.
const char* Trainable(Differentiability differentiability) {
  switch (differentiability) {
    case Differentiability::kRule:
      return "yes";
    case Differentiability::kLeaf:
      return "constant";
    case Differentiability::kNone:
      break;
  }
  return "no";
}

std::string FullName(const OperatorSummary& op) {
  return op.domain.empty() ? op.op : op.domain + "." + op.op;
}

nlohmann::ordered_json Json(const InspectResult& result, const std::string& path) {
  using nlohmann::ordered_json;
  const ModelSummary& summary = result.summary;
  const auto number_or_null = [](const std::optional<int64_t>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  ordered_json parameters = ordered_json::array(), operators = ordered_json::array();
  for (const TensorSummary& tensor : summary.parameters)
    parameters.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"elements", tensor.elements}});
  for (size_t i = 0; i < summary.operators.size(); ++i) {
    const OperatorSummary& op = summary.operators[i];
    operators.push_back({{"op", op.op},
                         {"domain", op.domain},
                         {"count", op.count},
                         {"flops_per_row", number_or_null(op.flops_per_row)},
                         {"trainable", Trainable(result.differentiability[i])}});
  }
  ordered_json blind_spots = ordered_json::array();
  for (const auto& [node, op] : result.blind_spots) blind_spots.push_back({{"node", node}, {"operator", op}});
  ordered_json metadata = summary.metadata;
  metadata.erase(metadata_key::kGradientFragment);
  const auto architecture = summary.metadata.find(metadata_key::kArchitecture);
  return {{"model", path},
          {"architecture", architecture == summary.metadata.end() ? ordered_json(nullptr)
                                                                  : ordered_json(architecture->second)},
          {"dimension", summary.contract.dimension},
          {"input", summary.contract.input},
          {"output", summary.contract.output},
          {"opset", summary.opset},
          {"ir_version", summary.ir_version},
          {"producer", summary.producer},
          {"parameter_count", summary.ParameterCount()},
          {"flops_per_row", number_or_null(summary.FlopsPerRow())},
          {"parameters", parameters},
          {"operators", operators},
          {"gradient", summary.metadata.contains(metadata_key::kGradientFragment)},
          {"blind_spots", blind_spots},
          {"metadata", metadata}};
}

std::string Flops(const std::optional<int64_t>& flops) {
  return flops ? fmt::format("{}", *flops) : "unknown";
}

// Long values (a base mean of 784 numbers, a gradient graph) are for programs: the head says what it is.
std::string Shortened(const std::string& text) {
  constexpr size_t kShown = 96;
  if (text.size() <= kShown) return text;
  return fmt::format("{}... ({} characters)", text.substr(0, kShown), text.size());
}

std::string Overview(const ModelSummary& summary, const std::string& path) {
  const auto architecture = summary.metadata.find(metadata_key::kArchitecture);
  const EnergyContract& contract = summary.contract;
  std::string text = path + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", what, value);
  };
  line("architecture", architecture == summary.metadata.end() ? "unknown" : architecture->second);
  line("dimension", fmt::format("{}", contract.dimension));
  line("input", fmt::format("{}, float32 [batch, {}]", contract.input, contract.dimension));
  line("output",
       fmt::format("{}, float32 {}", contract.output, contract.output_rank == 2 ? "[batch, 1]" : "[batch]"));
  line("versions", fmt::format("opset {}, IR {}{}", summary.opset, summary.ir_version,
                               summary.producer.empty() ? "" : ", made by " + summary.producer));
  line("parameters", fmt::format("{}", summary.ParameterCount()));
  line("FLOPs per row", Flops(summary.FlopsPerRow()));
  return text;
}

std::string VariableTable(const ModelSummary& summary) {
  const auto found = summary.metadata.find(metadata_key::kVariables);
  if (found == summary.metadata.end()) return "";
  const Variables variables = ParseVariables(found->second);
  std::string text = fmt::format("\n{:<32}{:>6}  {}\n", "variable", "bits", "states");
  for (int64_t v = 0; v < variables.size(); ++v)
    text += fmt::format("{:<32}{:>6}  {}\n", variables[v].name, variables.bits(v),
                        DescribeVariable(variables[v]));
  return text;
}

std::string Tables(const InspectResult& result) {
  const ModelSummary& summary = result.summary;
  std::string text = fmt::format("\n{:<32}{:<24}{:>12}\n", "parameter", "shape", "elements");
  for (const TensorSummary& tensor : summary.parameters)
    text += fmt::format("{:<32}{:<24}{:>12}\n", tensor.name,
                        fmt::format("[{}]", fmt::join(tensor.shape, ", ")), tensor.elements);
  text += fmt::format("\n{:<32}{:>8}{:>16}  {}\n", "operator", "nodes", "FLOPs per row", "trainable");
  for (size_t i = 0; i < summary.operators.size(); ++i) {
    const OperatorSummary& op = summary.operators[i];
    text += fmt::format("{:<32}{:>8}{:>16}  {}\n", FullName(op), op.count, Flops(op.flops_per_row),
                        Trainable(result.differentiability[i]));
  }
  if (!result.blind_spots.empty()) text += fmt::format("\n{}\n", AdviceOnBlindSpots(result.blind_spots));
  text += VariableTable(summary);
  if (summary.metadata.empty()) return text;
  text += "\nmetadata\n";
  for (const auto& [key, value] : summary.metadata)
    text += fmt::format("  {:<30}{}\n", key, Shortened(value));
  return text;
}

void RunInspect(const InspectCommand& command) {
  CheckOutputPaths({{"couplings", command.couplings}}, {ModelOption("model", command.model)}, command.json);
  const LoadedModel model(command.model);
  const InspectResult result = Inspect(model);
  if (!command.couplings.empty()) {
    Terminal terminal;
    WriteCouplings(command.couplings, QuadraticCouplings(model, terminal));
  }
  if (command.json) {
    // Metadata of users' files may hold anything, JSON only UTF-8.
    std::cout << JsonText(Json(result, command.model)) << "\n";
  } else {
    std::cout << Overview(result.summary, command.model) << Tables(result);
  }
}

}  // namespace

extern const Command kInspectCommand = MakeCommand<InspectCommand, RunInspect>(
    "inspect", "what an energy model is: dimension, parameters, cost, operators, metadata",
    "  ort-ed inspect model.onnx\n"
    "  ort-ed inspect model.onnx --json | jq .flops_per_row\n"
    "  ort-ed inspect ising.onnx --couplings J.csv",
    "FLOPs per row count two per multiply-and-add of a product or convolution and one per element of\n"
    "anything else that computes. Trainable is `yes` where a gradient passes through the operator,\n"
    "`constant` where it is zero (comparisons, shapes, constants), and `no` where training through it\n"
    "is an error.");

}  // namespace ort_ed
