#include "tools/jobs/train/learned_base/base_phase.h"

#include <filesystem>

#include <fmt/format.h>

#include "models/graph/model_file.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/processes.h"
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
class PhaseObserver final : public QuietObserver {
 public:
  using QuietObserver::QuietObserver;
  void OnWork(const Work& work) override {
    Work renamed = work;
    renamed.what = "training the base";
    observer().OnWork(renamed);
  }
  void OnNotice(const std::string& text) override { observer().OnNotice("base: " + text); }
  void OnWarning(const std::string& text) override { observer().OnWarning("base: " + text); }
  void OnSaved(const std::string& path) override { observer().OnSaved(path); }
};

// How many steps the phase has, of which some are taken; nothing: the observer asked to stop.
std::optional<int64_t> StepsInShare(const TrainOptions& options, const RunSources& sources, int64_t taken,
                                    const Stopwatch& clock, Observer& observer) {
  const double seconds =
      observer.processes().FromFirst(kShareOfTime * options.run.time->seconds - clock.Seconds());
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

// What an earlier process has left in the folder of the phase; without one all stays in memory.
std::optional<Checkpoint> OpenFolder(const std::string& folder, Observer& observer) {
  if (folder.empty()) return std::nullopt;
  if (observer.processes().rank() == 0) {
    MakeFolder(folder);
    RemoveTemporaryFiles(folder);
  }
  auto newest = CheckpointFolder(folder + "/" + run_file::kCheckpoints).ReadNewest(observer);
  RequireAgreement(observer.processes(), "checkpoint of the base",
                   newest ? fmt::format("that of step {}", newest->step) : "none");
  return newest;
}

onnx::ModelProto BestNetwork(const std::string& folder, const TrainResult& result) {
  const std::string best = folder + "/" + run_file::kBestModel;
  const bool in_file = !folder.empty() && result.best.known() && std::filesystem::is_regular_file(best);
  if (in_file) return LoadedModel(best).proto();
  return result.best_model ? *result.best_model : result.model;
}

// The first process has the files.
onnx::ModelProto SharedNetwork(const std::string& folder, const TrainResult& result, Collective& processes) {
  if (processes.size() == 1) return BestNetwork(folder, result);
  const bool first = processes.rank() == 0;
  return ParseModel(BroadcastText(processes, first ? SerializeModel(BestNetwork(folder, result)) : ""),
                    "the base");
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
  RunSources sources{.dataset = dataset, .network = &start};
  const std::string folder = run_folder.empty() ? "" : run_folder + "/" + run_file::kBase;
  const std::optional<Checkpoint> checkpoint = OpenFolder(folder, phase_observer);
  if (checkpoint) phase.step = checkpoint->step;
  if (!PlanPhase(options, sources, phase.step, clock, phase, phase_observer)) return phase;
  if (checkpoint) sources.checkpoint = &*checkpoint;
  RunSetup setup = SetUp(BasePhaseOptions(options, *dataset), sources, phase_observer);
  setup.clock = clock;
  if (checkpoint)
    phase_observer.OnNotice(fmt::format("resuming at step {} of {}", phase.step, setup.options.run.steps));
  std::optional<RunRecords> records;
  if (!folder.empty() && observer.processes().rank() == 0) {
    WriteConfiguration(options, run_folder);
    WriteConfiguration(setup.options, folder);
    records.emplace(folder, phase.step);
  }
  TrainResult result =
      Run(std::move(setup), records ? &*records : nullptr, sources.checkpoint, phase_observer).Train();
  phase.step = result.step;
  if (!result.complete) return phase;
  if (result.best.known())
    observer.OnNotice(fmt::format("the base alone: {:.4f} nats per held-out row (step {})",
                                  result.best.loss(), result.best.step()));
  phase.network = SharedNetwork(folder, result, observer.processes());
  return phase;
}

}  // namespace ort_ed
