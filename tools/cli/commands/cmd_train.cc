#include <chrono>
#include <iostream>
#include <optional>

#include <malloc.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/launch/processes.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/train.h"
#include "tools/plot/plot_curves.h"

namespace ort_ed {
namespace {

struct TrainCommand {
  std::string output, config, resume;
  bool force = false;
  bool json = false;
  TrainOptions train;

  static void Describe(Declare<TrainCommand>& declare) {
    using C = TrainCommand;
    declare("output", &C::output, "RUN", "folder of the run, made new").Letter('o');
    declare("config", &C::config, "FILE", "TOML file with the settings below; options override it");
    declare("resume", &C::resume, "RUN", "go on with an interrupted run");
    declare("force", &C::force, "", "replace the run that is in the output folder");
    declare("json", &C::json, "", "print the result as JSON");
    declare.All(&C::train);
  }
};

bool IsOfRun(const std::string& key) {
  const Option* option = SchemaOf<TrainCommand>().Find(key);
  return option != nullptr && option->section.empty();
}

// Shows the training and draws its curves now and then.
class TrainTerminal : public Terminal {
 public:
  explicit TrainTerminal(std::string folder) : folder_(std::move(folder)) {}

  // From here on there is a checkpoint.
  void OnWork(const Work& work) override {
    if (!begun_) SetResumption("ort-ed train --resume " + folder_);
    begun_ = true;
    Terminal::OnWork(work);
  }

  void OnSaved(const std::string&) override {
    if (std::chrono::steady_clock::now() - drawn_ > kPeriod) DrawCurves();
  }

  void DrawCurves() {
    if (Processes().rank() != 0) return;
    drawn_ = std::chrono::steady_clock::now();
    const RunMetrics metrics = ReadRunMetrics(folder_);
    if (!metrics.run.empty()) TrainingCurvesPicture(metrics).Save(folder_ + "/" + run_file::kCurves);
  }

  // Where there is something worse to report.
  void TryToDrawCurves() {
    try {
      DrawCurves();
    } catch (const Error& error) {
      OnWarning(fmt::format("no curves: {}", error.what()));
    }
  }

 private:
  static constexpr std::chrono::seconds kPeriod{30};
  std::string folder_;
  bool begun_ = false;
  std::chrono::steady_clock::time_point drawn_ = std::chrono::steady_clock::now();
};

// Makes large blocks go back to the system when they are freed: by default glibc soon keeps blocks of up to
// 32 MB, and the copies of parameters that come and go with checkpoints would add up.
void ReturnFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void RefuseContradictions(const TrainCommand& command) {
  if (command.resume.empty() && command.output.empty())
    throw UsageError("name the folder of the run: -o RUN, or --resume RUN to go on with one");
  if (!command.resume.empty() && !command.output.empty())
    throw UsageError("-o and --resume exclude each other: a resumed run stays where it is");
  if (!command.resume.empty() && command.force)
    throw UsageError("--force and --resume exclude each other: a resumed run is not replaced");
  if (!command.resume.empty() && !command.config.empty())
    throw UsageError("--config and --resume exclude each other: a resumed run has its own configuration");
}

// What the command itself is given, without the settings of the training.
TrainCommand OwnOptions(const GivenOptions& given) {
  GivenOptions own;
  for (const std::string& key : given.Keys())
    if (IsOfRun(key)) own.Add(key, given.GetValue(key), given.GetOrigin(key));
  TrainCommand command;
  own.ApplyTo(command);
  return command;
}

// Whether a run of these settings would be another one with `key` as it is given.
bool Changes(const GivenOptions& settings, const GivenOptions& given, const std::string& key) {
  TrainOptions before, after;
  settings.ApplyTo(before);
  GivenOptions changed = settings;
  changed.Add(key, given.GetValue(key), given.GetOrigin(key));
  try {
    changed.ApplyTo(after);
  } catch (const OptionError&) {  // it belongs to what the run has not
    return true;
  }
  const Schema& schema = SchemaOf<TrainOptions>();
  return GetOptions(schema, &before) != GetOptions(schema, &after);
}

// Settings of the run or of the configuration file, with those of the command line over them.
GivenOptions AllSettings(const TrainCommand& command, const GivenOptions& given) {
  const bool resuming = !command.resume.empty();
  GivenOptions settings;
  if (resuming) settings = ReadRunOptions(command.resume);
  const GivenOptions of_run = settings;
  if (!command.config.empty()) {
    ReadToml(command.config, SchemaOf<TrainOptions>(), settings);
    TrainOptions alone;
    settings.ApplyTo(alone);                       // what has no effect in the file itself is a mistake ...
    settings.AllowIdleFrom(command.config + ":");  // ... but options may override what it chooses
  }
  // However long the file says, the command line says it anew.
  if (given.Has("steps") || given.Has("epochs") || given.Has("time"))
    for (const char* key : {"epochs", "time"})
      if (settings.Has(key)) settings.Add(key, OptionValue(), settings.GetOrigin(key));
  for (const std::string& key : given.Keys()) {
    if (IsOfRun(key)) continue;
    const Option* option = SchemaOf<TrainOptions>().Find(key);
    if (resuming && (option == nullptr || !option->may_change)) {
      if (!Changes(of_run, given, key)) continue;
      throw OptionError(
          key, fmt::format("cannot change when a run is resumed; start a new one with --config RUN/{} -o ...",
                           run_file::kConfig));
    }
    settings.Add(key, given.GetValue(key), given.GetOrigin(key));
  }
  return settings;
}

// Mistakes that only the job can see are told where they were given, too.
template <typename Job>
TrainResult RunJob(const GivenOptions& settings, TrainTerminal& terminal, const Job& job) {
  try {
    TrainResult result = job();
    terminal.DrawCurves();
    return result;
  } catch (const OptionError& error) {
    if (!error.origin().empty()) throw;
    throw OptionError(error.key(), error.reason(), error.problem(), settings.GetOrigin(error.key()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kRuntime) terminal.TryToDrawCurves();  // diverged: the curves show how
    throw;
  }
}

nlohmann::ordered_json ToJson(const TrainResult& result, const std::string& folder) {
  nlohmann::ordered_json json = {{"run", folder}, {"steps", result.step}};
  if (result.loss) json["loss"] = *result.loss;
  if (result.validation_loss) json["validation_loss"] = *result.validation_loss;
  if (const auto& likelihood = result.validation_likelihood; likelihood && likelihood->tells_something()) {
    json[likelihood->reliable() ? kValidationNll : kRoughValidationNll] = likelihood->nll;
    if (likelihood->effective) json[kValidationDraws] = *likelihood->effective;
  }
  if (result.best.known())
    json["best"] = {{"step", result.best.step()}, {kValidationLoss, result.best.loss()}};
  if (result.best.nll()) json["best"][kValidationNll] = *result.best.nll();
  json["learned"] = result.learning.known ? nlohmann::json(result.learning.learned) : nullptr;
  if (!result.learning.text.empty()) json["learned_why"] = result.learning.text;
  if (!result.warnings.empty()) json["warnings"] = result.warnings;
  return json;
}

std::string DescribeWay(const LikelihoodEstimate& likelihood) {
  if (!likelihood.effective) return "exact";
  return fmt::format("{}by {:.0f} effective draws", likelihood.reliable() ? "" : "rough, ",
                     *likelihood.effective);
}

void Print(const TrainResult& result, const std::string& folder) {
  std::cout << fmt::format("{} steps", result.step);
  std::cout << (result.loss ? fmt::format(", loss {:.4f}", *result.loss) : ", all taken before");
  if (result.validation_loss) std::cout << fmt::format(", validation loss {:.4f}", *result.validation_loss);
  if (const auto& likelihood = result.validation_likelihood; likelihood && likelihood->tells_something())
    std::cout << fmt::format(", {:.4f} nats per held-out row ({})", likelihood->nll,
                             DescribeWay(*likelihood));
  std::cout << fmt::format("; model: {}/{}\n", folder, run_file::kModel);
  if (result.best.known() && result.best.step() < result.step)
    std::cout << fmt::format(
        "lowest validation {} {:.4f} at step {}; model: {}/{}\n", result.best.nll() ? "nats" : "loss",
        result.best.nll().value_or(result.best.loss()), result.best.step(), folder, run_file::kBestModel);
}

std::string PlaceOf(const TrainResult& result) {
  const char* phase = result.in_base ? " of the base, the first phase" : "";
  return result.step == 0 ? fmt::format("before the first step{}", phase)
                          : fmt::format("at step {}{}", result.step, phase);
}

void RunTrain(const GivenOptions& given) {
  const TrainCommand command = OwnOptions(given);
  RefuseContradictions(command);
  const bool resuming = !command.resume.empty();
  const std::string& folder = resuming ? command.resume : command.output;
  const GivenOptions settings = AllSettings(command, given);
  TrainOptions options;
  settings.ApplyTo(options);
  if (options.data.data.empty())
    throw UsageError("name the rows to train on: --data FILE, or --data synth:NAME");
  ReturnFreedMemory();
  TrainTerminal terminal(folder);
  const TrainResult result = RunJob(settings, terminal, [&] {
    return resuming ? ResumeInFolder(options, folder, terminal)
                    : TrainInFolder(options, folder,
                                    command.force ? ExistingRun::kReplace : ExistingRun::kRefuse, terminal);
  });
  if (!result.complete)
    throw Error(ErrorCode::kInterrupted,
                fmt::format("stopped {}; go on with: ort-ed train --resume {}", PlaceOf(result), folder));
  if (command.json) {
    std::cout << JsonText(ToJson(result, folder), -1) << "\n";
  } else {
    Print(result, folder);
  }
}

}  // namespace

extern const Command kTrainCommand;
const Command kTrainCommand = {
    .name = "train",
    .summary = "fit an energy model to binary data, with energy discrepancy or by sampling",
    .description = "",
    .examples = R"(  ort-ed train --data rows.npy -o run
  ort-ed train --data synth:pinwheel --method bernoulli --steps 4000 -o run
  ort-ed train --data mnist.idx.gz --binarise dynamic --model resnet --image-shape 28x28 --epsilon 0.002 -o run
  ort-ed train --data rows.csv --model my_energy.onnx --method grid+bernoulli --exact -o run
  ort-ed train --data rows.npy --method pcd --sampler gwg --chain-steps 40 --negatives 1 --energy-l2 0.1 -o run
  ort-ed train --data rows.npy --time 10m -o run
  ort-ed train --config run/config.toml --seed 1 -o run2
  ort-ed train --resume run --steps 20000)",
    .schema = &SchemaOf<TrainCommand>,
    .run = RunTrain,
};

}  // namespace ort_ed
