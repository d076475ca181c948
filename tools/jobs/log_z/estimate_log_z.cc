#include "tools/jobs/log_z/estimate_log_z.h"

#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

// Why an estimate is not to be written, and what to do; empty: nothing speaks against it.
std::string WhyNotReliable(const LogZEstimate& estimate) {
  if (!std::isfinite(estimate.log_z))
    return "log Z is not finite, the energies overflow: look for divergence in the training";
  if (estimate.samples == 1) return "one chain does not tell the error of log Z; take more chains";
  return estimate.warning;
}

}  // namespace

void LogZOptions::Describe(Declare<LogZOptions>& declare) {
  using Self = LogZOptions;
  declare("estimator", &Self::estimator, EstimatorTable, "how log Z is estimated").Formerly("method");
  declare("seed", &Self::seed, "[0, inf)",
          "of chains, proposals and the rows where raise starts, and of the bits that are drawn of grey "
          "values")
      .When("estimator", "!exact|metadata");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

LogZResult EstimateLogZ(const LoadedModel& model, const LogZOptions& options, const RowTable* data,
                        const std::string& state_file, Observer& observer) {
  CheckOptions(options);
  if (data != nullptr && data->columns != model.dimension())
    throw Error(ErrorCode::kBadData,
                fmt::format("the rows have {} {}, the model '{}' has {}", data->columns,
                            model.energy_model().variables().all_binary() ? "variables" : "bits",
                            model.name(), model.dimension()));
  const Stopwatch stopwatch;
  const ChosenEstimator estimator = FindEstimator(options.estimator);
  ModelEnergy energy(model, ModelFor(model, estimator.Samplers()), options.threads, observer);
  const LogZOutcome outcome = estimator.Estimate({.model = model,
                                                  .energy = energy,
                                                  .seed = options.seed,
                                                  .threads = options.threads,
                                                  .data = data,
                                                  .state_file = state_file},
                                                 observer);
  LogZResult result;
  result.estimate = outcome.estimate;
  if (outcome.has_state) result.state_file = state_file;
  if (!outcome.estimate.warning.empty()) Warn(outcome.estimate.warning, result, observer);
  result.seconds = stopwatch.Seconds();
  return result;
}

void WriteLogZ(const LoadedModel& model, const LogZEstimate& estimate) {
  if (const std::string why = WhyNotReliable(estimate); !why.empty())
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' was left as it is: {}", model.name(), why));
  model.WriteMetadata({{metadata_key::kLogZ, fmt::format("{}", estimate.log_z)},
                       {metadata_key::kLogZError, fmt::format("{}", estimate.standard_error)},
                       {metadata_key::kLogZMethod, estimate.method}});
}

}  // namespace ort_ed
