#include "tools/jobs/train/learned_base/base_phase.h"

#include <filesystem>

#include <fmt/format.h>

#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/race_bases.h"
#include "tools/jobs/train/run.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/steps/plan_steps.h"

namespace ort_ed {
namespace {

constexpr double kShareOfTime = 0.5, kShareOfRace = 0.1;

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
  RunSetup trial = SetUp(BasePhaseOptions(options, *sources.dataset), sources, observer);
  const std::optional<int64_t> steps = StepsThatFit(trial, seconds, observer);
  return steps ? std::optional(taken + *steps) : std::nullopt;
}

// False: the observer asked to stop.
bool PlanPhase(TrainOptions& options, const RunSources& sources, int64_t taken, const Stopwatch& clock,
               BasePhase& phase, Observer& observer) {
  if (!options.run.time || GetBaseOptions(options).base_steps) return true;
  const std::optional<int64_t> steps = StepsInShare(options, sources, taken, clock, observer);
  if (!steps) return false;
  options.network.base.options["base_steps"] = *steps;
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

// False: the observer asked to stop.
bool ChooseByRace(TrainOptions& options, const std::shared_ptr<Dataset>& dataset, Observer& observer) {
  if (!GetBaseOptions(options).base_race) return true;
  std::optional<double> seconds;
  if (options.run.time) seconds = kShareOfRace * options.run.time->seconds;
  const std::optional<Choice> best = RaceBases(options, dataset, seconds, observer);
  if (best) options.network.base = *best;
  return best.has_value();
}

onnx::ModelProto ReadBest(const std::string& folder, const TrainResult& result) {
  const std::string best = folder + "/" + run_file::kBestModel;
  return result.best.known() && std::filesystem::exists(best) ? LoadedModel(best).proto() : result.model;
}

}  // namespace

bool IsLearnedHere(const Choice& base) { return base.kind == "made"; }
bool IsBaseFile(const Choice& base) { return base.kind.ends_with(".onnx"); }

BasePhase LearnBase(TrainOptions& options, const std::shared_ptr<Dataset>& dataset,
                    const std::string& run_folder, const Stopwatch& clock, Observer& observer) {
  BasePhase phase;
  PhaseObserver phase_observer(observer);
  if (!ChooseByRace(options, dataset, phase_observer)) return phase;
  const onnx::ModelProto start = BuildBase(options, *dataset);
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
        fmt::format("resuming at step {} of {}", phase.step, BasePhaseOptions(options, *dataset).run.steps));
  RunSetup setup =
      SetUp(BasePhaseOptions(options, *dataset),
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
  if (result.best.known())
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
