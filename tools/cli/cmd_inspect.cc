#include <iostream>

#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "models/graph/model_file.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/metadata.h"
#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/jobs/quadratic_couplings.h"
#include "tools/jobs/sampling_model.h"
#include "tools/jobs/tensor_shapes.h"
#include "trainer/autodiff/rules.h"
#include "trainer/graph/inline_functions.h"

namespace ort_ed {
namespace {

// Whether a gradient passes through the operator.
const char* Trainable(const OperatorSummary& op, int64_t opset) {
  switch (Classify(op.domain, op.op, opset)) {
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

nlohmann::ordered_json Json(const ModelSummary& summary, const std::string& path) {
  using nlohmann::ordered_json;
  const auto number_or_null = [](const std::optional<int64_t>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  ordered_json parameters = ordered_json::array(), operators = ordered_json::array();
  for (const TensorSummary& tensor : summary.parameters)
    parameters.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"elements", tensor.elements}});
  for (const OperatorSummary& op : summary.operators) {
    operators.push_back({{"op", op.op},
                         {"domain", op.domain},
                         {"count", op.count},
                         {"flops_per_row", number_or_null(op.flops_per_row)},
                         {"trainable", Trainable(op, summary.opset)}});
  }
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

std::string Tables(const ModelSummary& summary) {
  std::string text = fmt::format("\n{:<32}{:<24}{:>12}\n", "parameter", "shape", "elements");
  for (const TensorSummary& tensor : summary.parameters)
    text += fmt::format("{:<32}{:<24}{:>12}\n", tensor.name,
                        fmt::format("[{}]", fmt::join(tensor.shape, ", ")), tensor.elements);
  text += fmt::format("\n{:<32}{:>8}{:>16}  {}\n", "operator", "nodes", "FLOPs per row", "trainable");
  for (const OperatorSummary& op : summary.operators)
    text += fmt::format("{:<32}{:>8}{:>16}  {}\n", FullName(op), op.count, Flops(op.flops_per_row),
                        Trainable(op, summary.opset));
  if (summary.metadata.empty()) return text;
  text += "\nmetadata\n";
  for (const auto& [key, value] : summary.metadata)
    text += fmt::format("  {:<30}{}\n", key, Shortened(value));
  return text;
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_description(
      "Tell what an energy model is: dimension, parameters, cost, operators, metadata.\n\n"
      "FLOPs per row count two per multiply-and-add of a product or convolution and one per element of\n"
      "anything else that computes. Trainable is `yes` where a gradient passes through the operator,\n"
      "`constant` where it is zero (comparisons, shapes, constants), and `no` where training through it\n"
      "is an error.");
  parser.add_argument("model").help("an energy model, .onnx");
  parser.add_argument("--json").flag().help("everything as one JSON object");
  parser.add_argument("--couplings")
      .metavar("FILE")
      .help("of an Ising-like model: writes J of U = const - h's - s'Js, s = 2x - 1: .npy, .csv or .tsv");
}

void Run(const argparse::ArgumentParser& arguments) {
  CheckOutputPaths(arguments, {"--couplings"}, {"model"});
  const auto path = arguments.get("model");
  onnx::ModelProto model = LoadModel(path);
  const EnergyContract contract = CheckContract(model, path);
  CheckOnnx(model, path);
  InlineFunctions(model);  // as in training: what counts is what the functions compute
  const ModelSummary summary = Summarise(model, path, ShapesOfOneRow(model, contract, path));
  if (const auto file = arguments.present("--couplings"))
    WriteCouplings(*file, QuadraticCouplings(LoadForSampling(path, {}, "gibbs"), path));
  if (arguments.get<bool>("--json")) {
    // Metadata of users' files may hold anything, JSON only UTF-8.
    std::cout << Json(summary, path).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << Overview(summary, path) << Tables(summary);
  }
}

}  // namespace

extern const Command kInspectCommand = {
    .name = "inspect",
    .summary = "what an energy model is: dimension, parameters, cost, operators, metadata",
    .examples =
        "  ort-ed inspect model.onnx\n"
        "  ort-ed inspect model.onnx --json | jq .flops_per_row\n"
        "  ort-ed inspect ising.onnx --couplings J.csv",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
