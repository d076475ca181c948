#include "tools/jobs/log_z/estimator.h"

namespace ort_ed {
namespace {

struct ImportanceOptions {
  int64_t proposals = 1000000;
  PathBase base = PathBase::kModel;

  static void Describe(Declare<ImportanceOptions>& declare) {
    declare("proposals", &ImportanceOptions::proposals, "[2, 1e12]", "proposals");
    DescribeBase(declare, &ImportanceOptions::base);
  }
};

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& given, Observer& observer) {
  const auto options = MakeOptions<ImportanceOptions>(given);
  return {.estimate = ImportanceLogZ(PathFrom(options.base, request.energy), options.proposals, request.seed,
                                     Watch(observer, "proposing", "rows"))};
}

}  // namespace

const EstimatorKind kImportanceEstimator = {"is",
                                            "importance sampling with independent proposals of the base",
                                            &SchemaOf<ImportanceOptions>, Estimate};

}  // namespace ort_ed
