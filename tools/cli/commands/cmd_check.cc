#include <iostream>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "ort_ed/error.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/check.h"

namespace ort_ed {
namespace {

struct CheckCommand {
  std::string model;
  bool json = false;
  GradientCheckOptions gradients;

  static void Describe(Declare<CheckCommand>& declare) {
    declare("model", &CheckCommand::model, "FILE", "an energy model, .onnx").Positional();
    declare("json", &CheckCommand::json, "", "print the report as JSON");
    declare.All(&CheckCommand::gradients);
  }
};

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

template <typename Nodes>
nlohmann::ordered_json Json(const Nodes& nodes) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [node, op] : nodes) json.push_back({{"node", node}, {"operator", op}});
  return json;
}

void PrintJson(const ModelCheck& check, const std::string& path) {
  nlohmann::ordered_json json = {
      {"model", path},
      {"passed", check.passed()},
      {"trainable", check.trainable()},
      {"input_gradient", check.has_input_gradient()},
      {"input", check.input},
      {"output", check.output},
      {"dimension", check.dimension},
      {"opset", check.opset},
      {"problems", check.problems},
      {"input_problems", check.input_problems},
      {"remarks", check.remarks},
      {"not_trained", nlohmann::json::array()},
      {"zeros_kept", check.roles.masked},
      {"missing_rules", Json(check.missing_rules)},
      {"missing_input_rules", Json(check.missing_input_rules)},
      {"blind_spots", Json(check.blind_spots)},
      {"differences_in", check.in_double ? "double" : "float"},
      {"gradients", nlohmann::json::array()},
  };
  for (const auto& [name, why] : check.roles.buffers)
    json["not_trained"].push_back({{"tensor", name}, {"why", why}});
  for (const GradientComparison& comparison : check.gradients) {
    json["gradients"].push_back({{"tensor", comparison.tensor},
                                 {"elements", comparison.size},
                                 {"verdict", Text(comparison)},
                                 {"relative_error", comparison.relative_error},
                                 {"tolerance", comparison.tolerance}});
  }
  std::cout << JsonText(json) << "\n";
}

template <typename... Arguments>
void Print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::cout << fmt::format(format, std::forward<Arguments>(arguments)...);
}

void PrintGradients(const ModelCheck& check) {
  size_t width = sizeof("tensor");
  for (const auto& comparison : check.gradients) width = std::max(width, comparison.tensor.size());
  Print("gradients against central differences in {} precision:\n", check.in_double ? "double" : "single");
  Print("  {:<{}}  {:>10}  {:>14}  {:>9}\n", "tensor", width, "elements", "relative error", "tolerance");
  for (const auto& comparison : check.gradients) {
    if (comparison.influences) {
      Print("  {:<{}}  {:>10}  {:>14.1e}  {:>9.1e}  {}\n", comparison.tensor, width, comparison.size,
            comparison.relative_error, comparison.tolerance, Text(comparison));
    } else {
      Print("  {:<{}}  {:>10}  {:>14}  {:>9}  the energy does not depend on it\n", comparison.tensor, width,
            comparison.size, "-", "-");
    }
  }
}

void PrintRoles(const ParameterRoles& roles) {
  if (!roles.buffers.empty()) Print("not trained, unless --trainable names them:\n");
  for (const auto& [name, why] : roles.buffers) Print("  {}: {}\n", name, why);
  if (!roles.masked.empty())
    Print("zeros stay zeros, since a mask seems to be part of the weights, unless --trainable names them:\n");
  for (const std::string& name : roles.masked) Print("  {}\n", name);
}

void PrintMissingRules(const std::vector<MissingRule>& rules, const char* whose) {
  if (rules.empty()) return;
  Print("no gradient rule, and the gradient of {} has to pass:\n", whose);
  for (const MissingRule& missing : rules) Print("  {:<20}  node '{}'\n", missing.op, missing.node);
}

void PrintVerdict(const ModelCheck& check) {
  if (check.passed()) Print("passed: the model can be trained\n");
  if (!check.problems.empty() || check.has_input_gradient()) return;
  if (!check.blind_spots.empty()) {
    Print("{}\n", AdviceOnBlindSpots(check.blind_spots));
    return;
  }
  Print(
      "no gradient with respect to the input: gradient-guided samplers need --gradient differences; Gibbs "
      "sampling does without\n");
}

void PrintText(const ModelCheck& check, const std::string& path) {
  Print("{}: energy model, input '{}' [batch, {}], output '{}', opset {}\n", path, check.input,
        check.dimension, check.output, check.opset);
  for (const std::string& remark : check.remarks) Print("remark: {}\n", remark);
  for (const std::string& problem : check.problems) Print("problem: {}\n", problem);
  for (const std::string& problem : check.input_problems) Print("input gradient: {}\n", problem);
  PrintRoles(check.roles);
  PrintMissingRules(check.missing_rules, "the parameters");
  PrintMissingRules(check.missing_input_rules, "the input");
  if (!check.gradients.empty()) PrintGradients(check);
  PrintVerdict(check);
}

std::string WhatFailed(const ModelCheck& check, const std::string& path) {
  if (!check.problems.empty()) return fmt::format("'{}': {}", path, check.problems.front());
  if (!check.missing_rules.empty()) {
    const MissingRule& first = check.missing_rules.front();
    return fmt::format(
        "'{}' cannot be trained: {} node(s) have no gradient rule, the first is '{}' ({}); replace it by "
        "operators that have one",
        path, check.missing_rules.size(), first.node, first.op);
  }
  for (const auto& comparison : check.gradients) {
    if (comparison.verdict != GradientVerdict::kDiffers) continue;
    return fmt::format(
        "'{}': the gradient of '{}' differs from central differences by {:.1e} of its norm; the energy may "
        "have a jump there (try another --seed), else this is an error in ort-ed: please report it",
        path, comparison.tensor, comparison.relative_error);
  }
  return "";
}

ModelCheck RunCheckJob(const CheckCommand& command) {
  try {
    Terminal terminal;
    return Check(LoadedModel(command.model), command.gradients, terminal).check;
  } catch (const Error& error) {
    ModelCheck check;  // nothing more can be said
    check.problems = {error.what()};
    if (command.json && error.code() == ErrorCode::kBadModel) PrintJson(check, command.model);
    throw;
  }
}

void RunCheck(const CheckCommand& command) {
  const ModelCheck check = RunCheckJob(command);
  if (command.json) {
    PrintJson(check, command.model);
  } else {
    PrintText(check, command.model);
  }
  if (!check.passed()) throw Error(ErrorCode::kBadModel, WhatFailed(check, command.model));
}

}  // namespace

extern const Command kCheckCommand = MakeCommand<CheckCommand, RunCheck>(
    "check", "whether a model keeps the energy model contract and can be trained",
    "  ort-ed check model.onnx           contract, operators without gradient rule, gradients against\n"
    "                                    central differences; exit code 1 if something is wrong or the\n"
    "                                    model cannot be trained, 0 if only gradient-guided samplers\n"
    "                                    need --gradient differences\n"
    "  ort-ed check model.onnx --json    the same for programs\n"
    "  ort-ed check model.onnx --rows 16 --seed 3\n"
    "  ort-ed check model.onnx --trainable 'scale*' --frozen 'encoder.*'");

}  // namespace ort_ed
