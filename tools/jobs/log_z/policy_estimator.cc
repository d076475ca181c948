// Importance sampling with rows that a policy of eb-gfn or aloe draws.

#include <algorithm>

#include <fmt/format.h>

#include "sampler/log_z/reliability.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/sample/proposal.h"

namespace ort_ed {
namespace {

constexpr uint32_t kProposalPurpose = 0x504C5A50;  // "PLZP"
constexpr int64_t kBlock = 4096;

struct PolicyEstimatorOptions {
  std::string policy;
  std::optional<int64_t> policy_copies = {};
  int64_t proposals = 20000;

  static void Describe(Declare<PolicyEstimatorOptions>& declare) {
    using Self = PolicyEstimatorOptions;
    declare("policy", &Self::policy, "FILE",
            "the policy.onnx beside the model of a run by eb-gfn, or the aloe.onnx of one by aloe");
    declare(ProposalOptions::kCopiesKey, &Self::policy_copies, "[1, 1e6]",
            "of aloe: ways to each row that are looked at")
        .Default(std::to_string(ProposalOptions::kCopies));
    declare("proposals", &Self::proposals, "[2, 1e12]", "proposals");
  }
};

LogZOutcome Estimate(const LogZRequest& request, const OptionMap& given, Observer& observer) {
  const auto options = MakeOptions<PolicyEstimatorOptions>(given);
  if (options.policy.empty())
    throw OptionError(
        "policy",
        "must be the policy.onnx beside the model of a run by eb-gfn, or the aloe.onnx of one by aloe");
  RequireBinary(request.model.energy_model().variables(), "policy");
  const auto proposal = OpenProposal(options.policy, request.model.dimension(), request.threads,
                                     {.variables = {}, .copies = options.policy_copies});
  const auto progress = Watch(observer, "proposing", "rows");
  std::vector<double> log_weights;
  while (std::ssize(log_weights) < options.proposals) {
    const int64_t first = std::ssize(log_weights), count = std::min(kBlock, options.proposals - first);
    std::vector<RandomStream> random;
    for (int64_t row = first; row < first + count; ++row)
      random.emplace_back(request.seed, kProposalPurpose, 0, static_cast<uint64_t>(row));
    const auto [rows, log_likelihoods] = proposal->Draw(random);
    std::vector<double> energies(static_cast<size_t>(count));
    request.energy.get()->Energy(std::vector<float>(rows.begin(), rows.end()), energies);
    for (int64_t i = 0; i < count; ++i) log_weights.push_back(-energies[i] - log_likelihoods[i]);
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

const EstimatorKind kPolicyEstimator = {"policy",
                                        "importance sampling with proposals of a policy of eb-gfn or aloe",
                                        &SchemaOf<PolicyEstimatorOptions>, Estimate};

}  // namespace ort_ed
