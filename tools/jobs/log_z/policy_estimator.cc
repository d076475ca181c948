// Importance sampling with rows that a policy builds. A row can be built in many ways, so that a weight is
// that of a way: exp(-U(x)) P_B(way | x) / P_F(way), whose mean is Z, since P_B sums up to 1 for each row.

#include <algorithm>

#include <fmt/format.h>

#include "sampler/log_z/reliability.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/sample/policy_file.h"

namespace ort_ed {
namespace {

constexpr uint32_t kProposalPurpose = 0x504C5A50;  // "PLZP"
constexpr int64_t kBlock = 4096;

struct PolicyEstimatorOptions {
  std::string policy;
  int64_t proposals = 20000;

  static void Describe(Declare<PolicyEstimatorOptions>& declare) {
    using Self = PolicyEstimatorOptions;
    declare("policy", &Self::policy, "FILE", "the policy.onnx beside the model of a run by eb-gfn");
    declare("proposals", &Self::proposals, "[2, 1e12]", "proposals");
  }
};

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& given, Observer& observer) {
  const auto options = MakeOptions<PolicyEstimatorOptions>(given);
  if (options.policy.empty())
    throw OptionError("policy", "must be the policy.onnx beside the model of a run by eb-gfn");
  RequireBinary(request.model.energy_model().variables(), "policy");
  const PolicyFile policy(options.policy, request.model.dimension(), request.threads);
  const auto progress = Watch(observer, "proposing", "rows");
  std::vector<double> log_weights;
  while (std::ssize(log_weights) < options.proposals) {
    const int64_t first = std::ssize(log_weights), count = std::min(kBlock, options.proposals - first);
    std::vector<RandomStream> random;
    for (int64_t row = first; row < first + count; ++row)
      random.emplace_back(request.seed, kProposalPurpose, 0, static_cast<uint64_t>(row));
    const ConstructionPaths paths = BuildRows(policy.view(), random);
    std::vector<double> energies(static_cast<size_t>(count));
    request.energy.get()->Energy(std::vector<float>(paths.ends.begin(), paths.ends.end()), energies);
    const std::vector<double> ratios = LogPathRatios(policy.view(), paths);
    for (int64_t i = 0; i < count; ++i) log_weights.push_back(-energies[i] - ratios[i]);
    progress(first + count, options.proposals);
  }
  const WeightSummary summary = SummariseLogWeights(log_weights);
  LogZEstimate estimate;
  estimate.method = fmt::format("importance sampling, {} proposals of a policy", options.proposals);
  estimate.log_z = summary.log_mean;
  estimate.standard_error = summary.standard_error;
  estimate.samples = options.proposals;
  estimate.effective_samples = summary.effective;
  estimate.warning = WhyUnreliable(summary, options.proposals, "proposals", "take more proposals or use ais");
  return {.estimate = estimate};
}

}  // namespace

const EstimatorKind kPolicyEstimator = {"policy", "importance sampling with proposals of a policy of eb-gfn",
                                        &SchemaOf<PolicyEstimatorOptions>, Estimate};

}  // namespace ort_ed
