#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

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
#include "tools/jobs/evaluate.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/tables/model_rows.h"
#include "tools/plot/energies_picture.h"

namespace ort_ed {
namespace {

struct EvalCommand {
  std::string model, data, png;
  bool json = false;
  EvaluateOptions evaluate;
  BinariseOptions binarise;
  DeviceOptions device;

  static void Describe(Declare<EvalCommand>& declare) {
    using C = EvalCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("data", &C::data, "FILE", "test rows, in any format of `score`").Required();
    declare("png", &C::png, "FILE",
            "a picture: histograms of the energies of the data and of the model's samples");
    declare("json", &C::json, "", "print everything as JSON");
    declare.All(&C::evaluate);
    declare.All(&C::binarise);
    declare.All(&C::device);
  }
};

Canvas Histograms(const EvalCommand& command, const EvaluateResult& result) {
  const std::vector<float>& data = result.data_energies;
  std::vector<HistogramSeries> series = {
      {std::filesystem::path(command.data).filename(), {data.begin(), data.end()}}};
  if (result.samples) series.push_back({"model samples", result.samples->energies});
  return EnergiesPicture(command.model, std::move(series));
}

nlohmann::ordered_json ToJson(const SampleComparison& comparison) {
  nlohmann::ordered_json json = {{"samples", comparison.samples},
                                 {"sets", comparison.sets},
                                 {"sampler", comparison.sampler},
                                 {"hamming", comparison.hamming},
                                 {"linear", comparison.linear}};
  if (comparison.null) json["hamming_null"] = {comparison.null->low, comparison.null->high};
  return json;
}

nlohmann::ordered_json ToJson(const EvaluateResult& r) {
  nlohmann::ordered_json json = {
      {"rows", r.rows},
      {"dimension", r.dimension},
      {"energy", {{"mean", r.energy.value}, {"standard_error", r.energy.standard_error}}},
      {"log_z", ToJson(r.log_z)},
      {"nll", r.Nll()},
      {"nll_error",
       {{"total", r.NllError()}, {"test_set", r.energy.standard_error}, {"log_z", r.log_z.standard_error}}},
      {"bits_per_dimension", r.BitsPerDimension()}};
  if (r.variables != r.dimension) json["variables"] = r.variables;
  if (r.reverse) {
    json["log_z_reverse"] = ToJson(*r.reverse);
    json["nll_reverse"] = r.energy.value + r.reverse->log_z;
  }
  if (r.raise_nll)
    json["nll_raise"] = {{"value", r.raise_nll->value}, {"standard_error", r.raise_nll->standard_error}};
  if (r.base_nll)
    json["nll_base"] = {{"value", r.base_nll->value}, {"standard_error", r.base_nll->standard_error}};
  if (r.entropy) {
    json["entropy"] = *r.entropy;
    json["nll_above_entropy"] = r.Nll() - *r.entropy;
  }
  if (r.samples) json["mmd"] = ToJson(*r.samples);
  if (!r.warnings.empty()) json["warnings"] = r.warnings;
  return json;
}

std::string NllText(const EvaluateResult& r) {
  if (!std::isfinite(r.NllError())) return fmt::format("{:.4f} nats, error not known", r.Nll());
  return fmt::format("{:.4f} +- {:.4f} nats (test set {:.4f}, log Z {:.4f})", r.Nll(), r.NllError(),
                     r.energy.standard_error, r.log_z.standard_error);
}

void PrintLine(const std::string& name, const std::string& value) {
  std::cout << fmt::format("{:<26}{}\n", name, value);
}

void Print(const SampleComparison& samples) {
  PrintLine("squared MMD, hamming",
            fmt::format("{:.3e} ({} samples{})", samples.hamming, samples.samples,
                        samples.sets > 1 ? fmt::format(", mean of {} sets", samples.sets) : ""));
  if (samples.null)
    PrintLine("  without a difference",
              fmt::format("{:.3e} to {:.3e} in 95 %", samples.null->low, samples.null->high));
  PrintLine("squared MMD, linear", fmt::format("{:.3e}", samples.linear));
}

void Print(const EvaluateResult& r) {
  PrintLine("test rows", r.variables == r.dimension ? fmt::format("{} of dimension {}", r.rows, r.dimension)
                                                    : fmt::format("{} of {} variables in {} bits", r.rows,
                                                                  r.variables, r.dimension));
  PrintLine("energy", WithError(r.energy.value, r.energy.standard_error));
  PrintLine("log Z", ToText(r.log_z));
  if (r.reverse) PrintLine("log Z, reverse", ToText(*r.reverse));
  PrintLine("negative log-likelihood", NllText(r));
  if (r.reverse) PrintLine("  by log Z in reverse", fmt::format("{:.4f}", r.energy.value + r.reverse->log_z));
  if (r.raise_nll)
    PrintLine("  by RAISE from test rows", WithError(r.raise_nll->value, r.raise_nll->standard_error));
  if (r.base_nll) PrintLine("  of the base alone", WithError(r.base_nll->value, r.base_nll->standard_error));
  if (r.entropy)
    PrintLine("  above the true entropy",
              fmt::format("{:.4f} (entropy {:.4f})", r.Nll() - *r.entropy, *r.entropy));
  PrintLine(r.variables == r.dimension ? "bits per dimension" : "bits per variable",
            fmt::format("{:.4f}", r.BitsPerDimension()));
  if (r.samples) Print(*r.samples);
}

void RunEval(const EvalCommand& command) {
  CheckOutputPaths({{"png", command.png}}, {ModelOption("model", command.model), {"data", command.data}},
                   command.json);
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> picture;
  if (!command.png.empty()) picture.emplace(PicturePath("png", command.png));
  Terminal terminal;
  RequireSameFiles(Processes(), {command.model, command.data});
  const LoadedModel model(command.model, command.device.Resolve(terminal));
  const EnergyModel& energy = ModelFor(model, command.evaluate.comparison.sampler);
  const ModelData data =
      ReadModelData(command.data, energy.variables(),
                    command.binarise.ForRows(command.evaluate.seed, energy.dimension()), terminal);
  EvaluateResult result = Evaluate(model, data.rows, command.evaluate, terminal);
  AddWarningsOf(data, result);
  if (!result.complete) throw Error(ErrorCode::kInterrupted, "interrupted; no file was written");
  if (command.json) {
    std::cout << JsonText(ToJson(result)) << "\n";
  } else {
    Print(result);
  }
  std::cout.flush();
  if (!picture) return;
  picture->Write(Histograms(command, result).Png());
  picture->Commit();
}

}  // namespace

extern const Command kEvalCommand = MakeCommand<EvalCommand, RunEval>(
    "eval",
    "likelihood of test data, with log Z forwards and in reverse, and how model samples compare with it",
    "  ort-ed eval model.onnx --data test.npy --png energies.png\n"
    "  ort-ed eval model.onnx --data test.npy --temperatures 10000 --chains 200 --samples 0 --json\n"
    "  ort-ed eval pinwheel.onnx --data test.npy --density pinwheel --estimator is");

}  // namespace ort_ed
