#include "tools/jobs/sample/chains.h"

#include <algorithm>

#include "tools/jobs/stopwatch.h"

namespace ort_ed {

const EnergyModel& ModelFor(const LoadedModel& model, std::span<const Choice> samplers) {
  const auto trusts_gradient = [](const Choice& s) { return GradientOf(s) == GradientSource::kAuto; };
  if (std::ranges::any_of(samplers, trusts_gradient) && !model.blind_spots().empty())
    throw OptionError("gradient", RefusalOfBlindGradient(model.blind_spots()));
  return std::ranges::any_of(samplers, NeedsGradient) ? model.with_gradient() : model.energy_model();
}

ModelEnergy::ModelEnergy(const LoadedModel& loaded, const EnergyModel& model, int threads, Observer& observer)
    : loaded_(loaded), model_(model), threads_(threads), observer_(observer) {}

const std::shared_ptr<const EnergyFunction>& ModelEnergy::get(int64_t evaluation_budget) {
  if (!energy_) {
    energy_ = MakeEnergyFunction(model_, {.evaluation_budget = evaluation_budget,
                                          .threads = threads_,
                                          .on_progress = Watch(observer_, "reading couplings", "rows"),
                                          .bipartite = loaded_.bipartite()});
  }
  return energy_;
}

void Pace::Took(int64_t steps, double seconds) {
  constexpr double kBetweenLooks = 0.2;
  if (steps == steps_ && processes_.FromFirst(seconds) < kBetweenLooks / 2) steps_ *= 2;
}

bool AdvanceChains(Sampler& sampler, Chains& chains, int64_t steps, Pace& pace,
                   const LookBetweenSteps& look) {
  while (steps > 0) {
    const int64_t now = std::min(steps, pace.steps());
    const Stopwatch stopwatch;
    sampler.Step(chains, now);
    pace.Took(now, stopwatch.Seconds());
    steps -= now;
    if (!look(now)) return steps == 0;
  }
  return true;
}

}  // namespace ort_ed
