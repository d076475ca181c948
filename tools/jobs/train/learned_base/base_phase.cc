#include "tools/jobs/train/learned_base/base_phase.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "models/architectures/energy_spec.h"
#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "models/base/made_base.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "ort_ed/options.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/run.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/steps/plan_steps.h"

namespace ort_ed {
namespace {

constexpr double kSmoothing = 0.01;  // of the means where the network begins
constexpr int64_t kValidations = 20;
constexpr int64_t kSteps = 5000;
constexpr double kShareOfTime = 0.5;
constexpr char kStepsKey[] = "base_steps";

MadeBaseOptions ReadOptions(const TrainOptions& options) {
  return MakeOptions<MadeBaseOptions>(options.network.base.options);
}

Choice ChooseNetwork(const TrainOptions& options) {
  const MadeBaseOptions base = ReadOptions(options);
  Choice network = {"made",
                    {{"hidden", base.base_hidden}, {"order", base.base_order}, {"orders", base.base_orders}}};
  if (base.base_view.empty()) return network;
  network.options.insert({{"view", base.base_view}, {"maps", base.base_maps}, {"blocks", base.base_blocks}});
  return network;
}

// The options of the phase as a run of its own.
TrainOptions PhaseOptions(const TrainOptions& options) {
  const MadeBaseOptions base = ReadOptions(options);
  TrainOptions phase = options;
  phase.network = {};
  phase.network.model = ChooseNetwork(options);
  phase.network.image_shape = options.network.image_shape;
  phase.network.base = "none";
  phase.contrast.method = {"likelihood", {{"dropout", base.base_dropout}}};
  phase.objective = kAutoObjective;
  phase.penalties = {};
  if (base.base_weight_decay > 0) phase.penalties.weight_decay = base.base_weight_decay;
  phase.optimizer = {};
  phase.optimizer.optimizer = base.base_weight_decay > 0 ? OptimizerKind::kAdamW : OptimizerKind::kAdam;
  phase.optimizer.learning_rate = base.base_learning_rate;
  phase.batch.batch_size = base.base_batch_size;
  phase.batch.micro_batch = 0;
  phase.schedule = {};
  phase.run.steps = base.base_steps.value_or(kSteps);
  phase.run.time.reset();
  phase.run.validate_every = {.steps = std::max<int64_t>(1, phase.run.steps / kValidations)};
  const bool validated = !phase.data.validation.empty() || phase.data.validation_fraction > 0;
  phase.run.patience = validated ? base.base_patience : 0;
  return phase;
}

// Its own words for the progress of the phase.
class PhaseObserver final : public Observer {
 public:
  explicit PhaseObserver(Observer& observer) : observer_(observer) {}
  void OnWork(const Work& work) override {
    Work renamed = work;
    renamed.what = "training the base";
    observer_.OnWork(renamed);
  }
  void OnNotice(const std::string& text) override { observer_.OnNotice("base: " + text); }
  void OnWarning(const std::string& text) override { observer_.OnWarning("base: " + text); }
  void OnSaved(const std::string& path) override { observer_.OnSaved(path); }
  bool StopRequested() override { return observer_.StopRequested(); }

 private:
  Observer& observer_;
};

// How many steps the phase has, of which some are taken; nothing: the observer asked to stop.
std::optional<int64_t> StepsInShare(const TrainOptions& options, const RunSources& sources, int64_t taken,
                                    const Stopwatch& clock, Observer& observer) {
  const double seconds = kShareOfTime * options.run.time->seconds - clock.Seconds();
  if (seconds <= 0 && taken > 0) return taken;
  RunSetup trial = SetUp(PhaseOptions(options), sources, observer);
  const std::optional<int64_t> steps = StepsThatFit(trial, seconds, observer);
  return steps ? std::optional(taken + *steps) : std::nullopt;
}

// False: the observer asked to stop.
bool PlanPhase(TrainOptions& options, const RunSources& sources, int64_t taken, const Stopwatch& clock,
               BasePhase& phase, Observer& observer) {
  if (!options.run.time || ReadOptions(options).base_steps) return true;
  const std::optional<int64_t> steps = StepsInShare(options, sources, taken, clock, observer);
  if (!steps) return false;
  options.network.base.options[kStepsKey] = *steps;
  observer.OnNotice(
      fmt::format("{} steps{} fit into its share of the time", *steps - taken, taken > 0 ? " more" : ""));
  if (*steps >= kTooFewSteps) return true;
  const std::string warning = fmt::format(
      "{} steps are all that fit into its share of the time, and teach next to nothing: give more time, a "
      "smaller base (base_hidden, base_orders), or base none",
      *steps);
  observer.OnWarning(warning);
  phase.warnings.push_back("base: " + warning);
  return true;
}

onnx::ModelProto ReadBest(const std::string& folder, const TrainResult& result) {
  const std::string best = folder + "/" + run_file::kBestModel;
  return result.best.step() > 0 && std::filesystem::exists(best) ? LoadedModel(best).proto() : result.model;
}

}  // namespace

bool IsLearnedHere(const Choice& base) { return base.kind == "made"; }
bool IsBaseFile(const Choice& base) { return base.kind.ends_with(".onnx"); }

void ResolveBaseSteps(Choice& base) { base.options.try_emplace(kStepsKey, kSteps); }
void ForgetBaseSteps(Choice& base) { base.options.erase(kStepsKey); }

onnx::ModelProto BuildBase(const TrainOptions& options, const Dataset& dataset) {
  EnergySpec spec;
  spec.architecture = ChooseNetwork(options);
  spec.dimension = dataset.training->columns();
  spec.image_shape = ParseImageShape(options.network.image_shape);
  spec.variables = dataset.variables;
  spec.seed = static_cast<uint64_t>(options.batch.seed);
  onnx::ModelProto model;
  try {
    model = BuildModel(spec);
  } catch (const OptionError& error) {  // the user knows it as an option of the base
    if (error.key() == "image_shape") throw;
    throw OptionError("base_" + error.key(), error.reason(), error.problem());
  }
  if (dataset.variables.described())
    SetMetadata(model, metadata_key::kVariables, FormatVariables(dataset.variables));
  SetOutputBias(model, SmoothedMean(dataset.mean, kSmoothing, dataset.variables), dataset.variables);
  return model;
}

BasePhase LearnBase(TrainOptions& options, const std::shared_ptr<Dataset>& dataset,
                    const std::string& run_folder, const Stopwatch& clock, Observer& observer) {
  BasePhase phase;
  const onnx::ModelProto start = BuildBase(options, *dataset);
  PhaseObserver phase_observer(observer);
  const std::string folder = run_folder.empty() ? "" : run_folder + "/" + run_file::kBase;
  std::optional<RunRecords> records;
  std::optional<Checkpoint> checkpoint;
  if (!folder.empty()) {
    MakeFolder(folder);
    RemoveTemporaryFiles(folder);
    checkpoint = CheckpointFolder(folder + "/" + run_file::kCheckpoints).ReadNewest(phase_observer);
  }
  phase.step = checkpoint ? checkpoint->step : 0;
  if (!PlanPhase(options, {.dataset = dataset, .network = &start}, phase.step, clock, phase, phase_observer))
    return phase;
  if (checkpoint)
    phase_observer.OnNotice(
        fmt::format("resuming at step {} of {}", phase.step, PhaseOptions(options).run.steps));
  RunSetup setup =
      SetUp(PhaseOptions(options),
            {.dataset = dataset, .network = &start, .checkpoint = checkpoint ? &*checkpoint : nullptr},
            phase_observer);
  setup.clock = clock;
  if (!folder.empty()) {
    WriteConfiguration(options, run_folder);
    WriteConfiguration(setup.options, folder);
    records.emplace(folder, phase.step);
  }
  TrainResult result = Run(std::move(setup), records ? &*records : nullptr,
                           checkpoint ? &*checkpoint : nullptr, phase_observer)
                           .Train();
  phase.step = result.step;
  if (!result.complete) return phase;
  if (result.best.step() > 0)
    observer.OnNotice(fmt::format("the base alone: {:.4f} nats per held-out row (step {})",
                                  result.best.loss(), result.best.step()));
  if (!folder.empty()) {
    phase.network = ReadBest(folder, result);
  } else {
    phase.network = result.best_model ? std::move(*result.best_model) : std::move(result.model);
  }
  return phase;
}

}  // namespace ort_ed
