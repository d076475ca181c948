#include "tools/jobs/train/steps/stepper.h"

#include <cmath>

#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

// The groups of the shards of this process, or all where negatives are made for all together.
Share OwnGroups(const RunSetup& setup) {
  const BatchOptions& batch = setup.options.batch;
  const int size = setup.processes->size();
  if (size == 1 || !setup.negatives->is_row_by_row()) return {0, batch.batch_size};
  const int64_t shards = *batch.shards;
  const Share own = ShareOf(setup.processes->rank(), size, shards);
  const int64_t first = ShardStart(batch.batch_size, shards, own.first);
  return {first, ShardStart(batch.batch_size, shards, own.first + own.count) - first};
}

}  // namespace

Stepper::Stepper(RunSetup& setup) : setup_(setup), batch_(MakeBatch(setup, OwnGroups(setup).count)) {
  batch_.Place(OwnGroups(setup).first, setup.options.batch.batch_size);
}

StepResult Stepper::Take(int64_t step, double learning_rate, double progress) {
  const int64_t first_row = step * batch_.step_groups + batch_.first_group;
  for (int64_t i = 0; i < batch_.positives; ++i)
    setup_.dataset->training->Draw(first_row + i, batch_.Positive(i));

  const NegativeSource::Needs needs = setup_.negatives->needs();
  std::shared_ptr<const EnergyFunction> energy;
  if (needs.energy) energy = setup_.learner->CurrentEnergy(needs.gradient);
  StepView view{.seed = static_cast<uint64_t>(setup_.options.batch.seed),
                .step = step,
                .first_row = batch_.first_group,
                .progress = progress,
                .energy = energy.get(),
                .processes = setup_.processes};
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
