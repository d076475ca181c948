#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "ort_ed/energy_function.h"
#include "ort_ed/sampler.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// The model as these samplers need it: with its gradient or without. Throws OptionError where one of them
// would follow a gradient that does not see all that the model does with x.
const EnergyModel& ModelFor(const LoadedModel& model, std::span<const Choice> samplers);
inline const EnergyModel& ModelFor(const LoadedModel& model, const Choice& sampler) {
  return ModelFor(model, std::span(&sampler, 1));
}

// The energy of a model as samplers and estimators see it, made when it is first asked for: to find the
// couplings of a quadratic energy may take a while.
class ModelEnergy {
 public:
  // `model`: of those of `loaded`, with its gradient or without.
  ModelEnergy(const LoadedModel& loaded, const EnergyModel& model, int threads, Observer& observer);

  const EnergyModel& model() const { return model_; }
  // `evaluation_budget`: what it may cost to find out that the energy is quadratic; counts the first time.
  const std::shared_ptr<const EnergyFunction>& get(
      int64_t evaluation_budget = EnergyFunctionOptions().evaluation_budget);

 private:
  LoadedModel loaded_;
  const EnergyModel& model_;
  int threads_;
  Observer& observer_;
  std::shared_ptr<const EnergyFunction> energy_;
};

// How many steps are done at once. They double until they take as long as somebody who waits for a program
// to stop does not mind. One object for all parts of a run.
class Pace {
 public:
  // Of processes that share the chains it is the same for all.
  explicit Pace(Collective& processes = Alone()) : processes_(processes) {}

  int64_t steps() const { return steps_; }
  void Took(int64_t steps, double seconds);

 private:
  Collective& processes_;
  int64_t steps_ = 1;
};

// Hears how many steps were done since it was last called; false: stop. It may throw as well.
using LookBetweenSteps = std::function<bool(int64_t steps)>;

// Advances the chains by `steps` steps, with a look in between every 0.1 to 0.2 seconds and at the end. How
// steps are divided never changes results. Returns whether all steps were done.
bool AdvanceChains(Sampler& sampler, Chains& chains, int64_t steps, Pace& pace, const LookBetweenSteps& look);

}  // namespace ort_ed
