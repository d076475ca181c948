#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "models/architectures/architectures.h"
#include "ort_ed/error.h"
#include "runtime/support/named.h"
#include "runtime/support/text.h"
#include "tools/cli/architecture_arguments.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/progress.h"
#include "tools/jobs/data/synth_rows.h"
#include "tools/jobs/settings/setting_value.h"
#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/train.h"
#include "tools/plot/plot_curves.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

constexpr char kExamples[] = R"(  ort-ed train --data rows.npy -o run
  ort-ed train --data synth:pinwheel --method bernoulli --steps 4000 -o run
  ort-ed train --data mnist.idx.gz --binarise dynamic --model resnet --image-shape 28x28 -o run
  ort-ed train --data rows.csv --model my_energy.onnx --method grid --exact -o run
  ort-ed train --config run/config.toml --seed 1 -o run2
  ort-ed train --resume run --steps 20000)";

// true or false: `--exact`, `--no-exact`. Help shows the one that changes the default.
void AddFlag(argparse::ArgumentParser& parser, const Setting& setting, bool default_value) {
  auto& set = parser.add_argument(setting.OptionName()).flag().help(setting.help);
  auto& unset =
      parser.add_argument(setting.NegatedOptionName()).flag().help(std::string("turns off: ") + setting.help);
  (default_value ? set : unset).hidden();
}

void AddSetting(argparse::ArgumentParser& parser, const Setting& setting) {
  if (const auto* flag = std::get_if<bool TrainConfig::*>(&setting.member)) {
    AddFlag(parser, setting, TrainConfig().**flag);
  } else if (!setting.IsModelOptions()) {
    parser.add_argument(setting.OptionName()).metavar(setting.Metavar()).help(setting.HelpText());
  }
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("-o", "--output").metavar("RUN").help("folder of the run, made new");
  parser.add_argument("--config")
      .metavar("FILE")
      .help("TOML file with the settings below; options override it");
  parser.add_argument("--resume").metavar("RUN").help("go on with an interrupted run");
  parser.add_argument("--force").flag().help("replace the run that is in the output folder");
  parser.add_argument("--json").flag().help("print the result as JSON");
  const char* section = "";
  for (const Setting& setting : Settings()) {
    if (std::string_view(section) != setting.section) parser.add_group(section = setting.section);
    AddSetting(parser, setting);
  }
  AddArchitectureArguments(parser);
}

// The value of a setting on the command line, if it was given.
std::optional<std::string> Given(const argparse::ArgumentParser& arguments, const Setting& setting) {
  if (setting.IsModelOptions()) return std::nullopt;
  if (!setting.IsFlag()) return arguments.present(setting.OptionName());
  if (arguments.is_used(setting.NegatedOptionName())) return "false";
  return arguments.is_used(setting.OptionName()) ? std::optional<std::string>("true") : std::nullopt;
}

// Names that nothing has are bad input; what else the trainer rejects of an option is wrong usage.
void RefuseUnknownNames(const Setting& setting, const std::string& value) {
  constexpr std::string_view kSynth = "synth:";
  const std::string_view key = setting.key;
  if (key == "model" && !value.ends_with(".onnx")) FindArchitecture(value);
  if (key == "data" && value.starts_with(kSynth)) CheckSynthNames(value.substr(kSynth.size()));
  if (key == "method") {
    for (const std::string& method : SplitWords(value, '+')) FindNamed(Perturbations(), method, "--method");
  } else if (const Words choices = SplitWords(setting.domain, '|'); choices.size() > 1) {
    FindNamed(choices, value, setting.OptionName());
  }
}

// Options that were given, over what `config` says.
void ApplyOptions(const argparse::ArgumentParser& arguments, bool resuming, TrainConfig& config) {
  for (const Setting& setting : Settings()) {
    const auto value = Given(arguments, setting);
    if (!value) continue;
    if (resuming && !setting.MayChangeOnResume())
      throw UsageError(
          fmt::format("{} cannot change when a run is resumed; start a new one with --config RUN/{} -o ...",
                      setting.OptionName(), run_file::kConfig));
    RefuseUnknownNames(setting, *value);
    SetFromOption(config, setting, *value);
  }
  const Setting& model_options = *std::find_if(
      Settings().begin(), Settings().end(), [](const Setting& setting) { return setting.IsModelOptions(); });
  for (const auto& [name, value] : GivenArchitectureOptions(arguments)) {
    if (resuming) throw UsageError(fmt::format("--{} cannot change when a run is resumed", name));
    SetFromOption(config, model_options, name + "=" + value);
    config.origin[model_options.key] = "--" + name;
  }
}

void PrintResult(const TrainResult& result, const std::string& folder, bool json) {
  if (json) {
    nlohmann::ordered_json object = {{"run", folder}, {"steps", result.step}};
    if (result.loss) object["loss"] = *result.loss;
    if (result.validation_loss) object["validation_loss"] = *result.validation_loss;
    if (result.best.step() > 0)
      object["best"] = {{"step", result.best.step()}, {"validation_loss", result.best.loss()}};
    std::cout << object.dump() << "\n";
    return;
  }
  std::cout << fmt::format("{} steps", result.step);
  std::cout << (result.loss ? fmt::format(", loss {:.4f}", *result.loss) : ", all taken before");
  if (result.validation_loss) std::cout << fmt::format(", validation loss {:.4f}", *result.validation_loss);
  std::cout << fmt::format("; model: {}/{}\n", folder, run_file::kModel);
  if (result.best.step() > 0 && result.best.step() < result.step)
    std::cout << fmt::format("lowest validation loss {:.4f} at step {}; model: {}/{}\n", result.best.loss(),
                             result.best.step(), folder, run_file::kBestModel);
}

// Draws the curves now and then, and at the end whatever it is.
class Curves {
 public:
  explicit Curves(std::string folder) : folder_(std::move(folder)) {}
  void DrawNowAndThen() {
    if (std::chrono::steady_clock::now() - drawn_ > kPeriod) Draw();
  }
  void Draw() {
    drawn_ = std::chrono::steady_clock::now();
    const auto lines = ReadMetrics(folder_ + "/" + MetricsLog::FileName());
    if (!lines.empty()) TrainingCurvesPicture(lines).Save(folder_ + "/" + run_file::kCurves);
  }
  // Where there is something worse to report.
  void TryToDraw() {
    try {
      Draw();
    } catch (const Error& error) {
      spdlog::warn("no curves: {}", error.what());
    }
  }

 private:
  static constexpr std::chrono::seconds kPeriod{30};
  std::string folder_;
  std::chrono::steady_clock::time_point drawn_ = std::chrono::steady_clock::now();
};

TrainHooks MakeHooks(Progress& progress, Curves& curves) {
  TrainHooks hooks;
  hooks.stop = Interrupted;
  hooks.synth = DrawSynthRows;
  hooks.checkpoint = [&curves] { curves.DrawNowAndThen(); };
  hooks.progress = [&progress](const TrainProgress& now) {
    std::string details = fmt::format("loss {:.4f}", now.loss);
    if (now.validation_loss) details += fmt::format(", validation {:.4f}", *now.validation_loss);
    progress.Update(now.step, details);
  };
  return hooks;
}

TrainResult Train(const argparse::ArgumentParser& arguments, const std::string& folder) {
  const bool resuming = arguments.is_used("--resume");
  TrainConfig config = resuming ? ReadRunConfig(folder) : TrainConfig();
  if (const auto path = arguments.present("--config")) ReadConfig(*path, config);
  ApplyOptions(arguments, resuming, config);
  if (config.data.empty()) throw UsageError("name the rows to train on: --data FILE, or --data synth:NAME");

  Progress progress("training", "steps", config.steps);
  Curves curves(folder);
  const TrainHooks hooks = MakeHooks(progress, curves);
  const ExistingRun existing = arguments.get<bool>("--force") ? ExistingRun::kReplace : ExistingRun::kRefuse;
  try {
    const TrainResult result =
        resuming ? ResumeTraining(config, folder, hooks) : StartTraining(config, folder, existing, hooks);
    curves.Draw();
    return result;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kRuntime) curves.TryToDraw();  // diverged: the curves show how
    throw;
  }
}

void Run(const argparse::ArgumentParser& arguments) {
  const auto resumed = arguments.present("--resume");
  const auto output = arguments.present("--output");
  if (!resumed && !output)
    throw UsageError("name the folder of the run: -o RUN, or --resume RUN to go on with one");
  if (resumed && output)
    throw UsageError("-o and --resume exclude each other: a resumed run stays where it is");
  if (resumed && arguments.is_used("--config"))
    throw UsageError("--config and --resume exclude each other: a resumed run has its own configuration");
  const std::string folder = resumed ? *resumed : *output;

  TrainResult result;
  try {
    result = Train(arguments, folder);
  } catch (const Error& error) {
    // An option is named first in the message: the command line is to blame, not a file.
    if (error.code() == ErrorCode::kInvalidArgument && std::string_view(error.what()).starts_with("--"))
      throw UsageError(error.what());
    throw;
  }
  if (!result.complete)
    throw Error(ErrorCode::kInterrupted,
                fmt::format("stopped at step {}; go on with: ort-ed train --resume {}", result.step, folder));
  PrintResult(result, folder, arguments.get<bool>("--json"));
}

}  // namespace

extern const Command kTrainCommand;
const Command kTrainCommand = {"train", "fit an energy model to binary data with energy discrepancy",
                               kExamples, AddArguments, Run};

}  // namespace ort_ed
