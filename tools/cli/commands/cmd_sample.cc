#include <cmath>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "models/graph/model_edits.h"
#include "ort_ed/error.h"
#include "runtime/data/table/table_writer.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/text.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/launch/processes.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/device_options.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/sample/sample.h"
#include "tools/picture/pictures.h"

namespace ort_ed {
namespace {

struct SampleCommand {
  std::string model, output, init, clamp, id, trace, png, shape;
  bool json = false;
  SampleOptions sample;
  DeviceOptions device;

  static void Describe(Declare<SampleCommand>& declare) {
    using C = SampleCommand;
    declare("model", &C::model, "FILE", "an energy model, .onnx").Positional();
    declare("output", &C::output, "FILE",
            "rows of 0 and 1: .npy, .bits.npy (packed), .csv or .tsv; - is CSV on the standard output. Of a "
            "model of a table .csv, .tsv and - are such tables")
        .Letter('o')
        .Required();
    declare("init", &C::init, "FILE", "rows where the chains start, chain c at row c mod rows")
        .Default("drawn from the base distribution");
    declare(
        "clamp", &C::clamp, "FILE",
        "conditional sampling: with --init a mask of a value for each variable (1 keeps it), one row or one "
        "for each row of --init; without it rows with empty cells (or NaN), which are filled");
    declare("id", &C::id, "NAME",
            "a column of the rows of --clamp or --init that is written in front of them");
    declare("trace", &C::trace, "FILE", "energies of all chains after every step, steps x chains, .npy")
        .When("sampler", "!exact");
    declare("png", &C::png, "FILE", "a picture of the first 100 samples, each as an image");
    declare("shape", &C::shape, "HxW", "of that image").Default("as the model says").When("png", "*");
    declare("json", &C::json, "", "print the diagnostics as JSON on the standard output");
    declare.All(&C::sample);
    declare.All(&C::device);
  }
};

// Height and width of a sample as an image.
std::vector<int64_t> ImageShape(const std::string& given, const EnergyModel& model) {
  if (given.empty() && !model.metadata().image_shape)
    throw UsageError("--png needs --shape HxW: the model does not say how its variables form an image");
  const auto shape = given.empty() ? model.metadata().image_shape : ParseShape(given);
  if (!shape) throw OptionError("shape", fmt::format("must be HEIGHTxWIDTH, not '{}'", given));
  if ((*shape)[0] * (*shape)[1] != model.dimension())
    throw OptionError("shape", fmt::format("must be the shape of {} variables, not {}", model.dimension(),
                                           ShapeText(*shape)));
  return *shape;
}

// The picture of the first samples; its file is opened first, so that an error does not cost the samples.
class SamplePicture {
 public:
  SamplePicture(const SampleCommand& command, const EnergyModel& model)
      : shape_(ImageShape(command.shape, model)), file_(PicturePath("png", command.png)) {}

  void Write(const SampleResult& result) {
    const auto height = static_cast<int>(shape_[0]), width = static_cast<int>(shape_[1]);
    file_.Write(SampleGridPicture(result.first_samples, height, width).Png());
    file_.Commit();
  }

 private:
  std::vector<int64_t> shape_;
  AtomicFile file_;
};

std::string Figure(double value, int digits, const char* unit = "") {
  return std::isnan(value) ? "not known" : fmt::format("{:.{}f}{}", value, digits, unit);
}

std::string EnergySize(const Diagnostics& diagnostics) {
  if (std::isnan(diagnostics.energy_ess)) return Figure(diagnostics.energy_ess, 1);
  return fmt::format("{:.1f} ({:.1f} per second, {:.3g} per evaluation), in the tails {:.1f}",
                     diagnostics.energy_ess, diagnostics.ess_per_second, diagnostics.ess_per_evaluation,
                     diagnostics.energy_tail_ess);
}

void Report(const SampleResult& result, Terminal& terminal) {
  const Diagnostics& diagnostics = result.diagnostics;
  if (result.sampler == "exact") {
    terminal.OnNotice(
        fmt::format("exact: independent draws by the probabilities of all states ({} energies), no chains",
                    diagnostics.energy_evaluations));
    return;
  }
  terminal.OnNotice(
      fmt::format("{}{}: acceptance {}, moves {}, mean jump {}, {} records of each chain after burn-in",
                  result.sampler, result.quadratic ? " (quadratic energy)" : "",
                  Figure(diagnostics.acceptance_rate, 3), Figure(diagnostics.move_rate, 3),
                  Figure(diagnostics.jump_distance, 2, " variables per record"), diagnostics.draws));
  if (!std::isnan(diagnostics.swap_rate))
    terminal.OnNotice(fmt::format("exchanges of temperatures accepted: {:.3f}", diagnostics.swap_rate));
  terminal.OnNotice(fmt::format("energy: effective sample size {}, R-hat {}", EnergySize(diagnostics),
                                Figure(diagnostics.energy_r_hat, 4)));
  const std::string& worst = result.agreement.worst_variable;
  terminal.OnNotice(fmt::format("variables: smallest effective sample size {}, largest R-hat {}{}",
                                Figure(diagnostics.coordinate_ess, 1),
                                Figure(diagnostics.coordinate_r_hat, 4),
                                worst.empty() ? "" : fmt::format(" of '{}'", worst)));
}

// JSON has no NaN: what is not known is null.
nlohmann::ordered_json ToJson(const Diagnostics& diagnostics, const ChainAgreement& agreement) {
  nlohmann::ordered_json variables = {{"smallest_ess", diagnostics.coordinate_ess},
                                      {"largest_r_hat", diagnostics.coordinate_r_hat},
                                      {"r_hat_limit", agreement.variable_limit}};
  if (!agreement.worst_variable.empty()) variables["worst"] = agreement.worst_variable;
  return {{"records", diagnostics.draws},
          {"acceptance_rate", diagnostics.acceptance_rate},
          {"move_rate", diagnostics.move_rate},
          {"swap_rate", diagnostics.swap_rate},
          {"jump_distance", diagnostics.jump_distance},
          {"energy",
           {{"ess", diagnostics.energy_ess},
            {"tail_ess", diagnostics.energy_tail_ess},
            {"r_hat", diagnostics.energy_r_hat}}},
          {"variables", variables},
          {"seconds", diagnostics.seconds},
          {"energy_evaluations", diagnostics.energy_evaluations},
          {"ess_per_second", diagnostics.ess_per_second},
          {"ess_per_evaluation", diagnostics.ess_per_evaluation}};
}

nlohmann::ordered_json ToJson(const SampleCommand& command, const SampleResult& result) {
  nlohmann::ordered_json json = {
      {"model", command.model},         {"output", command.output},
      {"samples", result.samples},      {"chains", result.schedule.chains},
      {"steps", result.schedule.steps}, {"burn_in", result.schedule.burn_in},
      {"thin", result.schedule.thin},   {"sampler", result.sampler},
      {"quadratic", result.quadratic},  {"beta", command.sample.beta},
      {"seed", command.sample.seed},    {"diagnostics", ToJson(result.diagnostics, result.agreement)}};
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  return json;
}

std::optional<std::string> IfGiven(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional(path);
}

void CheckId(const SampleCommand& command, bool as_table) {
  if (command.id.empty()) return;
  if (command.clamp.empty() && command.init.empty())
    throw OptionError("id", "has no effect without rows, which --clamp or --init names",
                      OptionError::Problem::kNoEffect);
  if (!as_table)
    throw OptionError("id",
                      fmt::format("is carried along in a table, and `output` '{}' is none", command.output));
}

void RunSample(const SampleCommand& command) {
  CheckOutputPaths({{"output", command.output}, {"trace", command.trace}, {"png", command.png}},
                   {ModelOption("model", command.model), {"init", command.init}, {"clamp", command.clamp}},
                   command.json);
  Terminal terminal;
  RequireSameFiles(Processes(), {command.model, command.init, command.clamp, command.sample.policy});
  const LoadedModel loaded(command.model, command.device.Resolve(terminal));
  const EnergyModel& model = loaded.energy_model();
  const bool as_table = model.variables().described() && IsTableName(command.output);
  CheckId(command, as_table);
  JobResult reading;
  const SampleStart start = ReadSampleStart(IfGiven(command.init), IfGiven(command.clamp), model.variables(),
                                            command.id, reading, terminal);
  const SampleSchedule schedule = MakeSchedule(command.sample, start);
  std::optional<SamplePicture> picture;
  if (!command.png.empty()) picture.emplace(command, model);
  const auto samples =
      as_table ? CreateTableFile(
                     command.output, model.variables(), command.sample.seed,
                     {.cells = start.cells, .chains = schedule.chains, .id = command.id, .ids = start.ids},
                     GetMetadata(loaded.proto(), kSeparatorKey))
               : CreateBitFile(command.output, {.columns = model.dimension()});
  std::unique_ptr<RowWriter<float>> trace;
  if (!command.trace.empty()) trace = CreateFloatFile(command.trace, {.columns = schedule.chains});

  SampleResult result =
      Sample(loaded, start, command.sample, {.samples = samples.get(), .trace = trace.get()}, terminal);
  result.warnings.insert(result.warnings.begin(), reading.warnings.begin(), reading.warnings.end());
  if (trace && result.complete) trace->Commit();
  if (result.samples > 0) samples->Commit();
  if (!result.complete) {
    throw Error(ErrorCode::kInterrupted,
                result.samples == 0 ? "interrupted before the first sample; nothing was written"
                                    : fmt::format("interrupted; '{}' holds the {} samples drawn so far",
                                                  command.output, result.samples));
  }
  if (picture) picture->Write(result);
  if (command.json) {
    std::cout << JsonText(ToJson(command, result)) << "\n";
  } else {
    Report(result, terminal);
  }
}

}  // namespace

extern const Command kSampleCommand = MakeCommand<SampleCommand, RunSample>(
    "sample", "draw samples from a model, also conditionally on known values",
    "  ort-ed sample model.onnx -n 1000 --steps 1000 -o samples.npy --png samples.png\n"
    "  ort-ed sample model.onnx -n 1000 --chains 10 --steps 20000 --sampler dmala --step-size 0.3 "
    "-o samples.npy\n"
    "  ort-ed sample model.onnx --sampler tempering --temperatures 12 --trace energies.npy "
    "-o samples.bits.npy\n"
    "  ort-ed sample model.onnx --clamp holes.csv -o filled.csv     fills empty cells\n"
    "  ort-ed sample model.onnx --init test.npy --clamp mask.npy -o inpainted.npy");

}  // namespace ort_ed
