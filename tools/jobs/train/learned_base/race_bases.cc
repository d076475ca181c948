#include "tools/jobs/train/learned_base/race_bases.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/run.h"
#include "tools/jobs/train/steps/plan_steps.h"

namespace ort_ed {
namespace {

constexpr int64_t kTrialShare = 5, kFewestSteps = 100, kMostSteps = 1500, kTimedValidations = 5;
// Rows of about a thousand bits and more would else race for longer than the rest takes.
constexpr double kMostMixedWeights = 6e6, kMostWork = 3e9;  // the latter: weights x steps

// What a trial has to say of itself is of no use to anybody.
class TrialObserver final : public QuietObserver {
 public:
  using QuietObserver::QuietObserver;
  void OnWork(const Work& work) override { observer().OnWork(work); }
};

struct Candidate {
  const char* name;
  OptionMap options;
};

Candidate Mixture(const Dataset& dataset) {
  return {"a mixture of four",
          {{"base_orders", int64_t{4}},
           {"base_hidden", std::vector<int64_t>{300}},
           {"base_dropout", 0.2},
           {"base_l1", PenaltyOfARow(0.25, dataset)}}};
}

Candidate HardlyPenalised(const Dataset& dataset) {
  return {"one with little penalty", {{"base_dropout", 0.2}, {"base_l1", PenaltyOfARow(0.05, dataset)}}};
}

// Which of them is best depends on how many rows there are and how far they are from a sum of pairs:
// docs/training.md has the trials.
std::vector<Candidate> Candidates(const Dataset& dataset) {
  const auto l1 = [&](double of_all_rows) { return PenaltyOfARow(of_all_rows, dataset); };
  const Candidate mixture = Mixture(dataset);
  const bool wide = CountWeights(MakeOptions<MadeBaseOptions>(mixture.options), dataset) > kMostMixedWeights;
  return {
      {"one network", {{"base_dropout", 0.2}, {"base_l1", l1(1)}}},
      {"one with strong dropout", {{"base_dropout", 0.5}, {"base_l1", l1(2)}}},
      wide ? HardlyPenalised(dataset) : mixture,
      {"direct connections",
       {{"base_hidden", std::vector<int64_t>{1}}, {"base_dropout", 0.0}, {"base_l1", l1(4)}}},
  };
}

// What stands at its default is open: the configuration of a run names everything.
TrainOptions WithBase(TrainOptions options, const OptionMap& candidate) {
  const MadeBaseOptions unchosen;
  const OptionMap defaults = GetOptions(SchemaOf<MadeBaseOptions>(), &unchosen);
  OptionMap& given = options.network.base.options;
  given.erase("base_race");
  for (const auto& [key, value] : candidate) {
    const auto found = given.find(key);
    const bool open = found == given.end() || FormatOption(found->second) == FormatOption(defaults.at(key));
    if (open) given[key] = value;
  }
  return options;
}

// As many for all candidates.
int64_t TrialSteps(const TrainOptions& options, const Dataset& dataset) {
  const MadeBaseOptions base = GetBaseOptions(options);
  const int64_t steps = base.base_steps.value_or(kMostSteps * kTrialShare);
  const int64_t most =
      std::clamp(static_cast<int64_t>(kMostWork / CountWeights(base, dataset)), kFewestSteps, kMostSteps);
  return std::clamp(steps / kTrialShare, std::min(steps, kFewestSteps), most);
}

// False: stopped.
bool ShortenToFit(TrainOptions& trial, const RunSources& sources, double seconds, Observer& observer) {
  RunSetup setup = SetUp(trial, sources, observer);
  const std::optional<int64_t> fit = StepsThatFit(setup, seconds, observer);
  if (!fit) return false;
  trial.run.steps = std::min(trial.run.steps, *fit);
  trial.run.validate_every.steps = std::max<int64_t>(1, trial.run.steps / kTimedValidations);
  return true;
}

// Nothing: stopped.
std::optional<double> Try(TrainOptions options, const std::shared_ptr<Dataset>& dataset, int64_t steps,
                          std::optional<double> seconds, Observer& observer) {
  const onnx::ModelProto start = BuildBase(options, *dataset);
  const RunSources sources{.dataset = dataset, .network = &start};
  options.network.base.options["base_steps"] = steps;
  TrainOptions trial = BasePhaseOptions(options, *dataset);
  if (seconds && !ShortenToFit(trial, sources, *seconds, observer)) return std::nullopt;
  const TrainResult result = Run(SetUp(trial, sources, observer), nullptr, nullptr, observer).Train();
  if (!result.complete) return std::nullopt;
  return result.best.known() ? result.best.loss() : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<Choice> RaceBases(const TrainOptions& options, const std::shared_ptr<Dataset>& dataset,
                                std::optional<double> seconds, Observer& observer) {
  const std::vector<Candidate> candidates = Candidates(*dataset);
  Choice best = WithBase(options, candidates[0].options).network.base;
  if (dataset->validation.rows == 0) return best;
  if (seconds) *seconds /= static_cast<double>(candidates.size());
  const int64_t steps = TrialSteps(options, *dataset);
  TrialObserver of_trials(observer);
  std::string told;
  const char* winner = "";
  double lowest = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const TrainOptions trial = WithBase(options, candidate.options);
    const std::optional<double> nats = Try(trial, dataset, steps, seconds, of_trials);
    if (!nats) return std::nullopt;
    told += fmt::format("{}{} {:.3f}", told.empty() ? "" : ", ", candidate.name, *nats);
    if (*nats >= lowest) continue;
    lowest = *nats;
    winner = candidate.name;
    best = trial.network.base;
  }
  observer.OnNotice(
      fmt::format("nats per held-out row after short trainings: {}; it will be {}", told, winner));
  return best;
}

}  // namespace ort_ed
