#include "tools/jobs/train/train.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/read_file.h"
#include "tools/jobs/explain/energy_sketch.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/tables/variables_file.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/former_configuration.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/base_phase.h"
#include "tools/jobs/train/run.h"
#include "tools/jobs/train/steps/plan_steps.h"

namespace ort_ed {
namespace {

std::string CountVariables(const Dataset& dataset) {
  const Variables& variables = dataset.variables;
  if (variables.all_binary()) return fmt::format("{} variables", dataset.training->columns());
  return fmt::format("{} variables in {} bits", variables.size(), variables.dimension());
}

// Best model, race of bases and end of a training are chosen by these rows.
void WarnOfFewHeldOut(RunSetup& setup, Observer& observer) {
  constexpr int64_t kFew = 20;
  const DataOptions& data = setup.options.data;
  const int64_t rows = setup.dataset->validation.rows;
  if (rows >= kFew || (data.validation.empty() && data.validation_fraction == 0)) return;
  setup.warnings.push_back(
      rows == 0 ? "there are too few rows to hold any out: nothing tells how good the model is"
                : fmt::format("only {} held out, which tell little of how good the model is: give more rows, "
                              "a greater validation_fraction, or rows of their own (validation)",
                              rows == 1 ? "one row is" : fmt::format("{} rows are", rows)));
  observer.OnWarning(setup.warnings.back());
}

void Announce(const RunSetup& setup, Observer& observer) {
  const Dataset& dataset = *setup.dataset;
  observer.OnNotice(fmt::format(
      "{}, {} rows to train on, {} to validate on; {} parameters; device {}", CountVariables(dataset),
      dataset.training_rows > 0 ? fmt::format("{}", dataset.training_rows) : "endless",
      dataset.validation.rows, setup.learner->parameter_count(), setup.options.run.device));
  if (const std::string& operators = setup.learner->operators_on_cpu(); !operators.empty())
    observer.OnNotice(
        fmt::format("the device {} leaves these operators to the CPU, and their tensors travel in every "
                    "step: {} (docs/gpu_kernels.md)",
                    setup.options.run.device, operators));
}

void WriteVariablesFile(const Dataset& dataset, const std::string& folder) {
  if (dataset.variables.described())
    WriteFileAtomically(folder + "/" + run_file::kVariables,
                        WriteVariables(dataset.variables, dataset.dropped));
}

// Checkpoints of format 1 cannot tell what differs, only that something does.
void RequireFormerConfiguration(const Checkpoint& checkpoint, const std::string& folder) {
  if (checkpoint.former_hash.empty()) return;
  const std::vector<std::byte> bytes = ReadFile(folder + "/" + run_file::kConfig, "configuration");
  const std::string hash =
      HashFormerConfiguration({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!hash.empty() && hash != checkpoint.former_hash)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}/{}' is not the configuration that the checkpoint was made with; only the section [run] "
            "and the place of the data may change",
            folder, run_file::kConfig));
}

void RequireEnoughSteps(const RunOptions& run, int64_t taken) {
  if (!run.time && run.steps < taken)
    throw OptionError("steps", fmt::format("must not be less than the {} that the run has taken", taken));
}

// Whether the options give a time that the run in the folder was not planned for.
bool HasNewTime(const RunOptions& run, const std::string& folder) {
  if (!run.time) return false;
  TrainOptions before;
  ReadRunOptions(folder).ApplyTo(before);
  return !before.run.time || before.run.time->seconds != run.time->seconds;
}

// That earlier processes trained, base included.
double EarlierSeconds(const std::string& folder) { return SecondsOfRun(ReadRunMetrics(folder)).value_or(0); }

// The result of a process that was asked to stop before it took a step of the network.
TrainResult Stopped(RunSetup& setup, int64_t step, bool in_base) {
  TrainResult result;
  result.complete = false;
  result.step = step;
  result.in_base = in_base;
  result.warnings = std::move(setup.warnings);
  result.model = std::move(setup.model);
  return result;
}

// Those of an earlier setup that the later one, on the same data, did not come to.
void KeepWarnings(const std::vector<std::string>& earlier, std::vector<std::string>& warnings) {
  for (const std::string& warning : earlier)
    if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

// What comes before the first step of the network: its base, where that has a phase of its own (the setup so
// far showed that all is well; it is made anew on what the base has learned), and the number of steps, where
// a time is given. A result: the observer asked to stop.
std::optional<TrainResult> GetReady(RunSetup& setup, const std::string& folder, const Checkpoint* resumed,
                                    Observer& observer) {
  RunSources sources{.dataset = setup.dataset, .checkpoint = resumed};
  BasePhase phase;
  if (resumed == nullptr && IsLearnedHere(setup.options.network.base)) {
    setup.learner.reset();  // its memory is not needed twice
    phase = LearnBase(setup.options, setup.dataset, folder, setup.clock, observer);
    if (!phase.network) return Stopped(setup, phase.step, /*in_base=*/true);
    sources.base = &*phase.network;
    const Stopwatch clock = setup.clock;
    const std::vector<std::string> earlier = std::move(setup.warnings);
    setup = SetUp(setup.options, sources, observer);
    setup.clock = clock;
    KeepWarnings(earlier, setup.warnings);
    setup.warnings.insert(setup.warnings.end(), phase.warnings.begin(), phase.warnings.end());
  }
  if (PlanSteps(setup, sources, observer)) return std::nullopt;
  return Stopped(setup, resumed != nullptr ? resumed->step : 0, /*in_base=*/false);
}

LoadOptions SameDevice(const RunOptions& run) {
  LoadOptions load;
  load.device = ParseDevice(run.device);
  load.threads = run.threads;
  return load;
}

EnergyModel OpenTrained(const onnx::ModelProto& model, const LoadOptions& load) {
  const std::string bytes = SerializeModel(model);
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)), load, "the trained model");
}

void AddSketch(onnx::ModelProto& model, const EnergySketch& sketch) {
  for (const auto& [key, value] : ToMetadata(sketch)) SetMetadata(model, key, value);
}

// Puts a sketch of the training rows' energies into the models, so that scores have something to be compared
// with. Models without finite energies go without. One copy of a model at a time: they may be large.
void SketchModels(onnx::ModelProto& last, const RowTable& rows, const LoadOptions& load,
                  const std::string& folder, Observer& observer) {
  if (const auto sketch = SketchRows(OpenTrained(last, load), rows, observer)) {
    AddSketch(last, *sketch);
    if (!folder.empty()) WriteModel(last, folder + "/" + run_file::kModel);
  }
  const std::string best_path = folder + "/" + run_file::kBestModel;
  if (folder.empty() || !std::filesystem::exists(best_path)) return;
  if (const auto sketch = SketchRows(EnergyModel::FromFile(best_path, load), rows, observer)) {
    onnx::ModelProto best = LoadModel(best_path);
    AddSketch(best, *sketch);
    WriteModel(best, best_path);
  }
}

// Of several processes the first one has the folder of the run; the others take its steps with it.
bool KeepsFolder(Observer& observer) { return observer.processes().rank() == 0; }

TrainResult RunToTheEnd(RunSetup setup, RunRecords* records, const Checkpoint* resumed, Observer& observer) {
  const LoadOptions load = SameDevice(setup.options.run);
  std::optional<Run> run(std::in_place, std::move(setup), records, resumed, observer);
  TrainResult result = run->Train();
  if (!result.complete || observer.processes().rank() != 0) return result;
  const RowTable rows = run->TrainingRows(kSketchRows);
  run.reset();  // what it holds may fill half the memory
  SketchModels(result.model, rows, load, records != nullptr ? records->folder : "", observer);
  return result;
}

}  // namespace

TrainResult Train(const TrainOptions& options, Dataset dataset, Observer& observer) {
  RunSetup setup = SetUp(options, {.dataset = std::make_shared<Dataset>(std::move(dataset))}, observer);
  Announce(setup, observer);
  WarnOfFewHeldOut(setup, observer);
  if (auto stopped = GetReady(setup, "", nullptr, observer)) return std::move(*stopped);
  return RunToTheEnd(std::move(setup), nullptr, nullptr, observer);
}

TrainResult TrainInFolder(const TrainOptions& options, const std::string& folder, ExistingRun existing,
                          Observer& observer) {
  const bool keeper = KeepsFolder(observer);
  if (keeper) {
    CheckUnused(folder, existing);
    CheckNotCleared(options, folder);
  }
  RunSetup setup = SetUp(options, {}, observer);
  Announce(setup, observer);
  WarnOfFewHeldOut(setup, observer);
  std::optional<FolderLock> lock;
  if (keeper) {
    MakeFolder(folder);
    lock.emplace(folder);
    CheckUnused(folder, existing);  // again: somebody else may have trained there in the meantime
    ClearRun(folder);
    WriteConfiguration(setup.options, folder);
    WriteVariablesFile(*setup.dataset, folder);
  }
  observer.processes().Barrier();  // nobody sees what was there before
  if (auto stopped = GetReady(setup, folder, nullptr, observer)) return std::move(*stopped);
  std::optional<RunRecords> records;
  if (keeper) {
    WriteConfiguration(setup.options, folder);  // again: a time has become steps
    records.emplace(folder, 0);
  }
  return RunToTheEnd(std::move(setup), records ? &*records : nullptr, nullptr, observer);
}

GivenOptions ReadRunOptions(const std::string& folder) {
  RequireRunFolder(folder);
  const std::string path = folder + "/" + run_file::kConfig;
  GivenOptions given;
  ReadToml(path, SchemaOf<TrainOptions>(), given);
  given.AllowIdleFrom(path + ":");  // earlier versions accepted settings without effect, and wrote them down
  return given;
}

TrainResult ResumeInFolder(const TrainOptions& options, const std::string& folder, Observer& observer) {
  RequireRunFolder(folder);
  const bool keeper = KeepsFolder(observer);
  std::optional<FolderLock> lock;
  if (keeper) {
    lock.emplace(folder);
    RemoveTemporaryFiles(folder);
  }
  std::optional<Checkpoint> checkpoint =
      CheckpointFolder(folder + "/" + run_file::kCheckpoints).ReadNewest(observer);
  RequireAgreement(observer.processes(), "checkpoint to go on from",
                   checkpoint ? fmt::format("that of step {}", checkpoint->step) : "none");
  // A run that was killed before its first checkpoint has no model either.
  if (!checkpoint && std::filesystem::exists(folder + "/" + run_file::kModel))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{0}' has a model but no checkpoint to go on from; train anew from that model: "
                            "--model {0}/{1} -o another-folder",
                            folder, run_file::kModel));
  if (checkpoint) RequireFormerConfiguration(*checkpoint, folder);
  const Checkpoint* resumed = checkpoint ? &*checkpoint : nullptr;
  TrainOptions going_on = options;
  if (!checkpoint && IsLearnedHere(options.network.base) && HasNewTime(options.run, folder))
    ForgetBaseSteps(going_on.network.base);
  RunSetup setup = SetUp(going_on, {.checkpoint = resumed}, observer);
  setup.clock.Add(EarlierSeconds(folder));
  if (checkpoint) RequireEnoughSteps(setup.options.run, checkpoint->step);
  Announce(setup, observer);
  WarnOfFewHeldOut(setup, observer);
  if (checkpoint) observer.OnNotice(fmt::format("resuming at step {}", checkpoint->step));
  // Whether data and options are those of a base that is under way is found out there: only then is the
  // configuration replaced.
  std::optional<TrainResult> stopped = GetReady(setup, folder, resumed, observer);
  if (keeper) {
    WriteConfiguration(setup.options, folder);
    WriteVariablesFile(*setup.dataset, folder);
  }
  if (stopped) return std::move(*stopped);
  if (checkpoint) checkpoint->state.clear();  // the setup has it
  std::optional<RunRecords> records;
  if (keeper) records.emplace(folder, checkpoint ? checkpoint->step : 0);
  return RunToTheEnd(std::move(setup), records ? &*records : nullptr, resumed, observer);
}

}  // namespace ort_ed
