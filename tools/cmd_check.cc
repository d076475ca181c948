#include <iostream>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "models/model_file.h"
#include "ort_ed/error.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "trainer/model_check.h"

namespace ort_ed {
namespace {

const char* Text(GradientVerdict verdict) {
  switch (verdict) {
    case GradientVerdict::kAgrees:
      return "agrees";
    case GradientVerdict::kDiffers:
      return "differs";
    case GradientVerdict::kUncertain:
      return "uncertain";
  }
  return "";
}

const char* Text(const GradientComparison& comparison) {
  return comparison.influences ? Text(comparison.verdict) : "no influence";
}

void PrintJson(const ModelCheck& check, const std::string& path) {
  nlohmann::ordered_json json = {
      {"model", path},
      {"passed", check.passed()},
      {"input", check.input},
      {"output", check.output},
      {"dimension", check.dimension},
      {"opset", check.opset},
      {"problems", check.problems},
      {"remarks", check.remarks},
      {"missing_rules", nlohmann::json::array()},
      {"differences_in", check.in_double ? "double" : "float"},
      {"gradients", nlohmann::json::array()},
  };
  for (const MissingRule& missing : check.missing_rules) {
    json["missing_rules"].push_back({{"node", missing.node}, {"operator", missing.op}});
  }
  for (const GradientComparison& comparison : check.gradients) {
    json["gradients"].push_back({{"tensor", comparison.tensor},
                                 {"elements", comparison.size},
                                 {"verdict", Text(comparison)},
                                 {"relative_error", comparison.relative_error},
                                 {"tolerance", comparison.tolerance}});
  }
  std::cout << json.dump(2) << "\n";
}

void PrintGradients(const ModelCheck& check) {
  size_t width = sizeof("tensor");
  for (const auto& comparison : check.gradients) width = std::max(width, comparison.tensor.size());
  fmt::print("gradients against central differences in {} precision:\n",
             check.in_double ? "double" : "single");
  fmt::print("  {:<{}}  {:>10}  {:>14}  {:>9}\n", "tensor", width, "elements", "relative error", "tolerance");
  for (const auto& comparison : check.gradients) {
    if (comparison.influences) {
      fmt::print("  {:<{}}  {:>10}  {:>14.1e}  {:>9.1e}  {}\n", comparison.tensor, width, comparison.size,
                 comparison.relative_error, comparison.tolerance, Text(comparison));
    } else {
      fmt::print("  {:<{}}  {:>10}  {:>14}  {:>9}  the energy does not depend on it\n", comparison.tensor,
                 width, comparison.size, "-", "-");
    }
  }
}

void PrintText(const ModelCheck& check, const std::string& path) {
  fmt::print("{}: energy model, input '{}' [batch, {}], output '{}', opset {}\n", path, check.input,
             check.dimension, check.output, check.opset);
  for (const std::string& remark : check.remarks) fmt::print("remark: {}\n", remark);
  for (const std::string& problem : check.problems) fmt::print("problem: {}\n", problem);
  if (!check.missing_rules.empty()) {
    fmt::print("no gradient rule, and the gradient has to pass:\n");
    for (const MissingRule& missing : check.missing_rules) {
      fmt::print("  {:<20}  node '{}'\n", missing.op, missing.node);
    }
  }
  if (!check.gradients.empty()) PrintGradients(check);
  if (check.passed()) fmt::print("passed: the model can be trained\n");
  std::fflush(stdout);
}

std::string WhatFailed(const ModelCheck& check, const std::string& path) {
  if (!check.problems.empty()) return fmt::format("'{}': {}", path, check.problems.front());
  if (!check.missing_rules.empty()) {
    const MissingRule& first = check.missing_rules.front();
    return fmt::format(
        "'{}' cannot be trained: {} node(s) have no gradient rule, the first is '{}' ({}); replace it by "
        "operators "
        "that have one",
        path, check.missing_rules.size(), first.node, first.op);
  }
  for (const auto& comparison : check.gradients) {
    if (comparison.verdict != GradientVerdict::kDiffers) continue;
    return fmt::format(
        "'{}': the gradient of '{}' differs from central differences by {:.1e} of its norm; the energy may "
        "have a "
        "kink or a jump there (try another --seed), else this is an error in ort-ed: please report it",
        path, comparison.tensor, comparison.relative_error);
  }
  return "";
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("model").help("an energy model, .onnx");
  parser.add_argument("--rows")
      .default_value(int64_t{4})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("random binary rows on which gradients are compared");
  parser.add_argument("--seed")
      .default_value(uint64_t{0})
      .scan<'u', uint64_t>()
      .metavar("S")
      .help("of the random rows and directions");
  parser.add_argument("--json").flag().help("print the report as JSON");
}

void Run(const argparse::ArgumentParser& arguments) {
  const auto path = arguments.get<std::string>("model");
  ModelCheckOptions options{.rows = arguments.get<int64_t>("--rows"),
                            .seed = arguments.get<uint64_t>("--seed")};
  if (options.rows < 1) throw UsageError("--rows must be at least 1");
  options.on_progress = ShowWork("comparing gradients", "tensors");
  const ModelCheck check = CheckModel(LoadModel(path), path, options);
  if (arguments.get<bool>("--json")) {
    PrintJson(check, path);
  } else {
    PrintText(check, path);
  }
  if (!check.passed()) throw Error(ErrorCode::kBadModel, WhatFailed(check, path));
}

}  // namespace

extern const Command kCheckCommand = {
    .name = "check",
    .summary = "whether a model keeps the energy model contract and can be trained",
    .examples =
        "  ort-ed check model.onnx           contract, operators without gradient rule, gradients against\n"
        "                                    central differences; exit code 1 if something is wrong\n"
        "  ort-ed check model.onnx --json    the same for programs\n"
        "  ort-ed check model.onnx --rows 16 --seed 3",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
