#include "tools/jobs/log_z/annealing_run.h"

#include <utility>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "tools/jobs/digest.h"
#include "tools/jobs/log_z/weighted_reverse.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

constexpr uint32_t kStartsPurpose = 0x52565354;  // "RVST": where a reverse annealing starts

}  // namespace

StatePlan AnnealingPlan::Describe() const {
  StatePlan plan;
  for (const auto& [key, value] : GetOptions(SchemaOf<AnnealingOptions>(), &options))
    if (key != "threads") plan[key] = FormatOption(value);  // they change nothing in the result
  plan["seed"] = std::to_string(options.seed);
  plan["chains at once"] = std::to_string(options.chains_at_once);
  plan["estimator"] = estimator;
  plan["model"] = model_digest;
  // A learned base is part of the model.
  const BernoulliBase* independent = path.base->independent();
  plan["base"] = independent != nullptr ? ComputeDigest(independent->fields()) : "of the model";
  plan["starting rows"] = starts.empty() ? "" : ComputeDigest(starts);
  return plan;
}

AnnealingRun::AnnealingRun(const AnnealingPlan& plan, const std::string& state_file, Observer& observer)
    : plan_(plan), observer_(observer) {
  if (state_file.empty()) return;
  file_.emplace(state_file, plan.Describe());
  // All have read it before the first process writes it.
  RequireAgreement(observer.processes(), "state of the annealing", file_->Summary());
}

Annealing AnnealingRun::Forward(const std::string& phase) {
  return Run(phase, Annealing::Forward(plan_.path, plan_.options));
}

Annealing AnnealingRun::Reverse(const std::string& phase, std::vector<float> starts) {
  return Run(phase, Annealing::Reverse(plan_.path, plan_.options, std::move(starts)));
}

LogZEstimate AnnealingRun::EstimateInReverse(const std::string& phase) {
  AnnealingOptions options = plan_.options;
  options.seed = RandomStream(options.seed, kStartsPurpose, 0, 0).Next64();
  const Annealing drawn = Run("drawing samples", Annealing::Forward(plan_.path, options));
  const std::vector<uint8_t>& ends = drawn.state().ends;
  const Annealing reverse = Reverse(phase, {ends.begin(), ends.end()});
  return CountByWeight(reverse.Estimate(), reverse.log_weights(), drawn.log_weights());
}

Annealing AnnealingRun::Run(const std::string& phase, Annealing annealing) {
  constexpr double kSecondsBetweenStores = 60;
  if (const AnnealingState* state = file_ ? file_->Find(phase) : nullptr) {
    annealing.Restore(*state);
    const auto done = static_cast<double>(annealing.done_work());
    observer_.OnNotice(fmt::format("{}: continuing at {:.1f} % from '{}'", phase,
                                   100.0 * done / static_cast<double>(annealing.total_work()),
                                   file_->path()));
    if (annealing.finished()) return annealing;
  }
  Stopwatch since_stored;
  while (!annealing.finished()) {
    annealing.Advance(1);
    observer_.OnWork({phase, "moves", annealing.done_work(), annealing.total_work()});
    const bool stop = StopTogether(observer_);
    if (stop || since_stored.Seconds() >= kSecondsBetweenStores) {
      Store(phase, annealing);
      since_stored.Restart();
    }
    if (!stop) continue;
    throw Error(
        ErrorCode::kInterrupted,
        file_ ? fmt::format("interrupted; the same command continues from '{}'", file_->path())
              : "interrupted; no file was written (`ort-ed logz --state FILE --write` can be continued)");
  }
  Store(phase, annealing);
  return annealing;
}

void AnnealingRun::Store(const std::string& phase, const Annealing& annealing) {
  if (file_ && observer_.processes().rank() == 0) file_->Store(phase, annealing.state());
}

}  // namespace ort_ed
