#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

struct MetadataOptions {
  static void Describe(Declare<MetadataOptions>&) {}
};

LogZOutcome Estimate(const LogZRequest& request, const OptionMap&, Observer&) {
  const std::optional<LogZ>& log_z = request.model.metadata().log_z;
  if (!log_z)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' carries no log Z; `ort-ed logz ... --write` puts it there", request.model.name()));
  LogZOutcome outcome;
  outcome.estimate.method = log_z->method;
  outcome.estimate.log_z = log_z->value;
  outcome.estimate.standard_error = log_z->standard_error;
  return outcome;
}

}  // namespace

const EstimatorKind kMetadataEstimator = {"metadata", "what the model's metadata say",
                                          &SchemaOf<MetadataOptions>, Estimate};

}  // namespace ort_ed
