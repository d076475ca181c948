#include <fmt/format.h>

#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/log_z/normalised_form.h"

namespace ort_ed {
namespace {

// Up to so many binary variables, or as many states of others, log Z is simply computed.
constexpr int64_t kEnumerateUpTo = 20;

bool IsNormalised(const ModelMetadata& metadata) { return metadata.base && metadata.architecture == "made"; }

// How chains move and where they begin may be meant for other chains of the job as well.
void RefuseAnnealing(const OptionMap& options, const std::string& reason) {
  for (const char* key : {"chains", "spacing", "temperatures"})
    if (options.contains(key))
      throw OptionError(
          key, fmt::format("has no effect with `estimator` auto: {}; choose `estimator` ais", reason),
          OptionError::Problem::kNoEffect);
}

// From a learned base its own proposals go far in one step.
OptionMap ChooseOptions(const ModelMetadata& metadata, OptionMap options) {
  if (metadata.base) options.try_emplace("sampler", std::string("refill"));
  return options;
}

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  const ModelMetadata& metadata = request.model.metadata();
  const Variables& variables = request.model.energy_model().variables();
  if (IsNormalised(metadata)) {
    RefuseAnnealing(options, "the model is normalised, its log Z is known");
    RequireNormalisedForm(request.model.energy_model());
    LogZOutcome outcome;
    outcome.estimate.method = "exact: normalised by its form";
    return outcome;
  }
  const std::optional<int64_t> states = CountStates(variables);
  if (states && *states <= int64_t{1} << kEnumerateUpTo) {
    RefuseAnnealing(options, variables.all_binary()
                                 ? fmt::format("with {} variables, and up to {}, log Z is computed exactly",
                                               variables.size(), kEnumerateUpTo)
                                 : fmt::format("with {} states, and up to 2^{}, log Z is computed exactly",
                                               *states, kEnumerateUpTo));
    return kExactEstimator.estimate(request, {}, observer);
  }
  return kAisEstimator.estimate(request, ChooseOptions(metadata, options), observer);
}

Choice ChooseSampler(const OptionMap& options) { return kAisEstimator.sampler(options); }

}  // namespace

const EstimatorKind kAutoEstimator = {"auto",
                                      "what is known of a normalised model; else exact up to 2^20 states; "
                                      "else ais, whose options it takes, with the "
                                      "sampler refill where the base is learned",
                                      []() -> const Schema& { return kAisEstimator.schema(); }, Estimate,
                                      ChooseSampler};

}  // namespace ort_ed
