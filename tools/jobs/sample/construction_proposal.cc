// Policies of eb-gfn. A row can be built in many ways, so that a weight is that of a way: exp(-U(x))
// P_B(way | x) / P_F(way), whose mean is Z, since P_B sums up to 1 for each row.

#include <algorithm>

#include "models/policy/construction_policy.h"
#include "tools/jobs/sample/policy_session.h"
#include "tools/jobs/sample/proposals.h"
#include "trainer/policy/construction_paths.h"

namespace ort_ed {
namespace {

using namespace construction_policy;

class ConstructionProposal final : public Proposal {
 public:
  ConstructionProposal(const onnx::ModelProto& model, const std::string& name, int threads,
                       const ProposalOptions& options)
      : session_(model, name, {kAdditions, kRemovals}, threads),
        view_{.dimension = session_.dimension(),
              .logits = [this](auto... spans) { Evaluate(spans...); },
              .threads = threads},
        variables_(std::min(options.variables.value_or(view_.dimension), view_.dimension)) {}

  Rows Draw(std::vector<RandomStream>& random) const override {
    ConstructionPaths paths = BuildRows(view_, random);
    std::vector<double> ratios = LogPathRatios(view_, paths);
    return {std::move(paths.ends), std::move(ratios)};
  }

  Moves Move(std::span<const uint8_t> rows, std::vector<RandomStream>& random) const override {
    Reconstruction result = Reconstruct(view_, rows, variables_, random);
    return {std::move(result.rows), std::move(result.log_ratios)};
  }

 private:
  // Logarithms of probabilities are logits.
  void Evaluate(std::span<const uint8_t> states, std::span<float> logits) const {
    const size_t d = view_.dimension, rows = states.size() / d;
    std::vector<float> input(states.size()), additions(2 * states.size()), removals(states.size());
    std::ranges::transform(states, input.begin(), [](uint8_t code) { return code == kHole ? -1.0f : code; });
    session_.Run(input, {additions, removals});
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(additions.begin() + row * 2 * d, 2 * d, logits.begin() + row * 3 * d);
      std::copy_n(removals.begin() + row * d, d, logits.begin() + row * 3 * d + 2 * d);
    }
  }

  PolicySession session_;
  PolicyView view_;
  int64_t variables_;
};

}  // namespace

std::shared_ptr<const Proposal> MakeConstructionProposal(const onnx::ModelProto& model,
                                                         const std::string& name, int threads,
                                                         const ProposalOptions& options) {
  return std::make_shared<ConstructionProposal>(model, name, threads, options);
}

}  // namespace ort_ed
