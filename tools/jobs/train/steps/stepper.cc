#include "tools/jobs/train/steps/stepper.h"

#include <cmath>

namespace ort_ed {

Stepper::Stepper(RunSetup& setup) : setup_(setup), batch_(MakeBatch(setup, setup.options.batch.batch_size)) {}

StepResult Stepper::Take(int64_t step, double learning_rate, double progress) {
  const int64_t first_row = step * batch_.positives;
  for (int64_t i = 0; i < batch_.positives; ++i)
    setup_.dataset->training->Draw(first_row + i, batch_.Positive(i));

  const NegativeSource::Needs needs = setup_.negatives->needs();
  std::shared_ptr<const EnergyFunction> energy;
  if (needs.energy) energy = setup_.learner->CurrentEnergy(needs.gradient);
  StepView view{.seed = static_cast<uint64_t>(setup_.options.batch.seed),
                .step = step,
                .first_row = 0,
                .progress = progress,
                .energy = energy.get()};
  setup_.negatives->Fill(view, batch_);

  const StepResult result = setup_.learner->Step(batch_, learning_rate, step + 1);
  view.energy = nullptr;  // which was that before the step
  if (!HasDiverged(result)) setup_.negatives->Learn(view, batch_);
  return result;
}

ContrastiveBatch MakeBatch(const RunSetup& setup, int64_t positives) {
  const BatchShape shape = setup.shape();
  return {positives, shape.negatives, setup.learner->dimension(), shape.weighted};
}

bool HasDiverged(const StepResult& result) {
  constexpr double kLargestLoss = 1e6;
  return !result.finite() || std::abs(result.loss) > kLargestLoss;
}

}  // namespace ort_ed
