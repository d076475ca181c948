#include "tools/jobs/data/random_rows.h"
#include "tools/jobs/log_z/annealing_run.h"
#include "tools/jobs/log_z/estimator.h"
#include "trainer/collective/shared_sampler.h"

namespace ort_ed {
namespace {

struct AnnealingEstimatorOptions {
  AnnealingOptions annealing;
  PathBase base = PathBase::kModel;

  static void Describe(Declare<AnnealingEstimatorOptions>& declare) {
    declare.All(&AnnealingEstimatorOptions::annealing);
    DescribeBase(declare, &AnnealingEstimatorOptions::base);
  }
};

AnnealingPlan MakePlan(const char* estimator, const LogZRequest& request, const OptionMap& given,
                       Collective& processes) {
  const auto options = MakeOptions<AnnealingEstimatorOptions>(given);
  AnnealingPlan plan{.estimator = estimator,
                     .model_digest = request.state_file.empty() ? "" : request.model.Digest(),
                     .path = PathFrom(options.base, request.energy),
                     .options = options.annealing};
  plan.options.seed = request.seed;
  if (plan.options.threads == 0) plan.options.threads = request.threads;
  plan.options.around = [path = plan.path, &processes](std::unique_ptr<Sampler> sampler) {
    return ShareChains(std::move(sampler), path, processes);
  };
  return plan;
}

Choice ChooseSampler(const OptionMap& given) {
  return MakeOptions<AnnealingEstimatorOptions>(given).annealing.sampler;
}

std::vector<float> Repeated(const std::vector<float>& rows, int64_t times) {
  std::vector<float> all;
  for (int64_t i = 0; i < times; ++i) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

LogZOutcome EstimateByAis(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  const AnnealingPlan plan = MakePlan("ais", request, options, observer.processes());
  AnnealingRun run(plan, request.state_file, observer);
  const Annealing forward = run.Forward("ais");
  LogZOutcome outcome{.estimate = forward.Estimate(), .has_state = run.has_state()};
  if (!request.both_sides) return outcome;
  outcome.reverse = run.EstimateInReverse("reverse ais");
  if (request.test_rows.empty()) return outcome;
  const Annealing raise = run.Reverse("raise", Repeated(request.test_rows, request.test_chains));
  outcome.test_log_weights.assign(raise.log_weights().begin(), raise.log_weights().end());
  return outcome;
}

LogZOutcome EstimateByRaise(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  AnnealingPlan plan = MakePlan("raise", request, options, observer.processes());
  if (request.data != nullptr)
    plan.starts = RandomRows(*request.data, plan.options.chains, plan.options.seed);
  AnnealingRun run(plan, request.state_file, observer);
  return {.estimate = request.data != nullptr ? run.Reverse("raise", plan.starts).Estimate()
                                              : run.EstimateInReverse("raise"),
          .has_state = run.has_state()};
}

}  // namespace

const EstimatorKind kAisEstimator = {"ais", "annealed importance sampling; on average below log Z",
                                     &SchemaOf<AnnealingEstimatorOptions>, EstimateByAis, ChooseSampler};

const EstimatorKind kRaiseEstimator = {
    "raise",
    "the same in reverse; on average above log Z if it starts at samples of the model: given rows may be "
    "such, and ends of ais nearly are",
    &SchemaOf<AnnealingEstimatorOptions>, EstimateByRaise, ChooseSampler};

}  // namespace ort_ed
