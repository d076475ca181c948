#include <algorithm>

#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/log_z/normalised_form.h"

namespace ort_ed {
namespace {

// Up to so many states log Z is simply computed.
constexpr int64_t kEnumerateUpTo = int64_t{1} << 20;

bool IsNormalised(const ModelMetadata& metadata) { return metadata.base && metadata.architecture == "made"; }

// Whether the options ask for annealing. Threads are those of any estimate; and how chains move and where
// they begin may be meant for other chains of a job that anneals forwards and in reverse: that of `eval`.
bool AsksForAnnealing(const LogZRequest& request, const OptionMap& options) {
  return std::ranges::any_of(options, [&](const auto& option) {
    const std::string& key = option.first;
    const bool of_annealing = key == "chains" || key == "spacing" || key == "temperatures";
    return of_annealing || (!request.both_sides && key != "threads");
  });
}

// From a learned base its own proposals go far in one step.
OptionMap ChooseOptions(const ModelMetadata& metadata, OptionMap options) {
  if (metadata.base) options.try_emplace("sampler", std::string("refill"));
  return options;
}

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& options, Observer& observer) {
  const ModelMetadata& metadata = request.model.metadata();
  if (!AsksForAnnealing(request, options)) {
    if (IsNormalised(metadata)) {
      RequireNormalisedForm(request.model.energy_model());
      LogZOutcome outcome;
      outcome.estimate.method = "exact: normalised by its form";
      return outcome;
    }
    const std::optional<int64_t> states = CountStates(request.model.energy_model().variables());
    if (states && *states <= kEnumerateUpTo) return kExactEstimator.estimate(request, {}, observer);
  }
  return kAisEstimator.estimate(request, ChooseOptions(metadata, options), observer);
}

Choice ChooseSampler(const OptionMap& options) { return kAisEstimator.sampler(options); }

}  // namespace

const EstimatorKind kAutoEstimator = {"auto",
                                      "what is known of a normalised model; else exact up to 2^20 states; "
                                      "else ais, with the sampler refill where the base is learned; an "
                                      "option of ais chooses ais",
                                      []() -> const Schema& { return kAisEstimator.schema(); }, Estimate,
                                      ChooseSampler};

}  // namespace ort_ed
