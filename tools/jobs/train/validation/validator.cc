#include "tools/jobs/train/validation/validator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "tools/jobs/train/learning/loss_bounds.h"
#include "trainer/collective/shares.h"

namespace ort_ed {
namespace {

// Validation has noise of its own, the same every time.
constexpr uint64_t kValidationSeed = 0x6E6F6973652D7661ULL;

uint64_t ValidationSeed(const TrainOptions& options) {
  return static_cast<uint64_t>(options.batch.seed) ^ kValidationSeed;
}

}  // namespace

std::vector<int64_t> Validator::ExtraSteps() const {
  const TrainOptions& options = setup_.options;
  const Period& every = options.run.validate_every;
  if (!setup_.negatives->of_network_alone() || every.never()) return {};
  std::vector<int64_t> steps = {0};
  const int64_t rows = setup_.dataset->training_rows;
  for (const int64_t step : {10, 20, 50, 100, 200})
    if (step < every.steps && rows > 0 && step * options.batch.batch_size >= rows) steps.push_back(step);
  return steps;
}

double Validator::LowestLoss() const {
  constexpr double kPlace = 1e-4;
  const int64_t rows = setup_.dataset->validation.rows, part = RowsOfAPart();
  double sum = 0;
  for (int64_t first = 0; first < rows; first += part) {
    const int64_t count = std::min(part, rows - first);
    const auto bounds = BoundsOf(setup_, count);
    if (!bounds || !setup_.negatives->of_network_alone()) return -std::numeric_limits<double>::infinity();
    sum += bounds->At(kPlace) * static_cast<double>(count);
  }
  return rows == 0 ? -std::numeric_limits<double>::infinity() : sum / static_cast<double>(rows);
}

int64_t Validator::RowsOfAPart() const {
  const BatchOptions& batch = setup_.options.batch;
  return batch.micro_batch > 0 ? batch.micro_batch : batch.batch_size;
}

Validation Validator::Validate() {
  Validation validation{.loss = Loss()};
  const LikelihoodEstimate estimate = setup_.options.objective.kind == "likelihood"
                                          ? LikelihoodEstimate{.nll = validation.loss}
                                          : likelihood().Compute(*setup_.learner, *setup_.processes);
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
  const int64_t part = RowsOfAPart();
  StepView view{.seed = ValidationSeed(options),
                .step = 0,
                .first_row = 0,
                .progress = options.Progress(options.run.steps)};
  NegativeSource& source = setup_.negatives->validation();
  const NegativeSource::Shape shape = source.shape(options.contrast.negatives);
  std::vector<double> sums(static_cast<size_t>((rows.rows + part - 1) / part));
  const Share own = ShareOf(setup_.processes->rank(), setup_.processes->size(), std::ssize(sums));
  for (int64_t i = own.first; i < own.first + own.count; ++i) {
    view.first_row = i * part;
    ContrastiveBatch batch(std::min(part, rows.rows - view.first_row), shape.negatives, rows.columns,
                           shape.weighted);
    for (int64_t row = 0; row < batch.positives; ++row)
      std::ranges::copy(rows.Row(view.first_row + row), batch.Positive(row).begin());
    source.Fill(view, batch);
    sums[i] = setup_.learner->Validate(batch).loss * static_cast<double>(batch.positives);
  }
  GatherShares(*setup_.processes, std::span(sums));
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(rows.rows);
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
