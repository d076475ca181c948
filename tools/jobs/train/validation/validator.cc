#include "tools/jobs/train/validation/validator.h"

#include <algorithm>
#include <cmath>

#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"

namespace ort_ed {
namespace {

// Validation has noise of its own, the same every time.
constexpr uint64_t kValidationSeed = 0x6E6F6973652D7661ULL;

uint64_t ValidationSeed(const TrainOptions& options) {
  return static_cast<uint64_t>(options.batch.seed) ^ kValidationSeed;
}

}  // namespace

Validation Validator::Validate() {
  Validation validation{.loss = Loss()};
  const LikelihoodEstimate estimate = setup_.options.objective.kind == "likelihood"
                                          ? LikelihoodEstimate{.nll = validation.loss}
                                          : likelihood().Compute(*setup_.learner);
  if (std::isfinite(estimate.nll)) validation.likelihood = estimate;
  return validation;
}

std::vector<float> Validator::Samples(int64_t count) const {
  return likelihood_ ? likelihood_->Samples(count) : std::vector<float>();
}

double Validator::base_nll() { return likelihood().base_nll(); }

// By the source's own loss for it, with the noise of the last step, so that losses can be compared.
double Validator::Loss() {
  const TrainOptions& options = setup_.options;
  const RowTable& rows = setup_.dataset->validation;
  const int64_t part = options.batch.micro_batch > 0 ? options.batch.micro_batch : options.batch.batch_size;
  StepView view{.seed = ValidationSeed(options),
                .step = 0,
                .first_row = 0,
                .progress = options.Progress(options.run.steps)};
  NegativeSource& source = setup_.negatives->validation();
  const NegativeSource::Shape shape = source.shape(options.contrast.negatives);
  double sum = 0;
  for (; view.first_row < rows.rows; view.first_row += part) {
    ContrastiveBatch batch(std::min(part, rows.rows - view.first_row), shape.negatives, rows.columns,
                           shape.weighted);
    for (int64_t i = 0; i < batch.positives; ++i)
      std::ranges::copy(rows.Row(view.first_row + i), batch.Positive(i).begin());
    source.Fill(view, batch);
    sum += setup_.learner->Validate(batch).loss * static_cast<double>(batch.positives);
  }
  return sum / static_cast<double>(rows.rows);
}

HeldOutLikelihood& Validator::likelihood() {
  const Dataset& dataset = *setup_.dataset;
  if (!likelihood_)
    likelihood_.emplace(
        HeldOutLikelihood::Rows{.held_out = dataset.validation,
                                .variables = GetVariables(setup_.model, dataset.validation.columns),
                                .mean = dataset.mean,
                                .base = setup_.base.get(),
                                .alone = setup_.negatives->of_network_alone(),
                                .seed = ValidationSeed(setup_.options)});
  return *likelihood_;
}

}  // namespace ort_ed
