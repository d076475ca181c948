// Samplers of aloe. A row x comes about in many ways; those that an inverse proposal p' draws tell its
// probability: with way_1, ..., way_K of p'(. | x) the mean of
//   q^(x) = 1/K sum_k q(way_k) / p'(way_k | x)
// is q(x). Results are exact because everything happens on rows together with K ways to each, of which rows
// have the law
//   exp(-U(x)) prod_k p'(way_k | x),
// whose sum over ways is exp(-U(x)). Proposals draw x by a way of its own, the other K - 1 by p'. Where that
// way stands among the K does not matter, so that their density is
//   1/K sum_j q(way_j) prod_(k != j) p'(way_k | x) = q^(x) prod_k p'(way_k | x).
// The ratio of the two is exp(-U(x)) / q^(x): the weight of a proposal, whose mean is Z, and what Metropolis
// and Hastings compare. The ways of the row where a chain stands may be drawn anew in each step, all by p',
// since that leaves the law above as it is; so nothing need be kept from step to step.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "models/graph/model_edits.h"
#include "models/policy/edit_policy.h"
#include "ort_ed/error.h"
#include "runtime/support/text.h"
#include "tools/jobs/sample/policy_session.h"
#include "tools/jobs/sample/proposals.h"
#include "trainer/policy/edit_paths.h"

namespace ort_ed {
namespace {

using namespace edit_policy;

constexpr uint32_t kCheckPurpose = 0x45445052;  // "EDPR"

class EditProposal final : public Proposal {
 public:
  EditProposal(const onnx::ModelProto& model, const std::string& name, int threads,
               const ProposalOptions& options)
      : start_(model, name, {kLogOdds}, threads),
        editor_(model, name, {kEdits}, threads),
        view_{.dimension = start_.dimension(),
              .max_edits = std::min(MaxEdits(model, name), start_.dimension()),
              .log_odds = [this](auto rows, auto numbers) { start_.Run(rows, {numbers}); },
              .edits = [this](auto rows, auto numbers) { editor_.Run(rows, {numbers}); }},
        copies_(options.copies.value_or(ProposalOptions::kCopies)) {
    RequireOrder(name);
  }

  Rows Draw(std::vector<RandomStream>& random) const override {
    EditedRows drawn = DrawEditedRows(view_, random);
    std::vector<double> log_likelihoods = LogLikelihoods(drawn.rows, drawn.edits, random);
    return {std::move(drawn.rows), std::move(log_likelihoods)};
  }

  Moves Move(std::span<const uint8_t> rows, std::vector<RandomStream>& random) const override {
    const std::vector<double> here = LogLikelihoods(rows, {}, random);
    Rows there = Draw(random);
    std::vector<double> ratios(here.size());
    std::ranges::transform(here, there.log_likelihoods, ratios.begin(), std::minus());
    return {std::move(there.rows), std::move(ratios)};
  }

 private:
  static int64_t MaxEdits(const onnx::ModelProto& model, const std::string& name) {
    const std::string text = GetMetadata(model, kMaxEdits);
    const std::optional<int64_t> edits = text.empty() ? 16 : ParseInteger(text);
    if (!edits || *edits < 1)
      throw Error(ErrorCode::kBadModel,
                  fmt::format("'{}' has '{}' for {}; it must be a number above 0", name, text, kMaxEdits));
    return *edits;
  }

  // log q^ of rows; `known`, where there are any, are ways that they came by.
  std::vector<double> LogLikelihoods(std::span<const uint8_t> rows, const std::vector<Edits>& known,
                                     std::vector<RandomStream>& random) const {
    const int64_t d = view_.dimension, count = std::ssize(random);
    EditedRows ways;
    for (int64_t row = 0; row < count; ++row)
      for (int64_t copy = 0; copy < copies_; ++copy) {
        const auto own = rows.subspan(row * d, d);
        ways.rows.insert(ways.rows.end(), own.begin(), own.end());
        ways.edits.push_back(copy == 0 && !known.empty() ? known[row]
                                                         : TraceBack(d, view_.max_edits, random[row]));
      }
    const std::vector<double> ratios = LogWayRatios(view_, ways);
    std::vector<double> result;
    for (int64_t row = 0; row < count; ++row)
      result.push_back(LogSumExp(std::span(ratios).subspan(row * copies_, copies_)) -
                       std::log(static_cast<double>(copies_)));
    return result;
  }

  // Probabilities add up to 1 only where the log odds of a variable do not depend on those behind it: a file
  // may come from anywhere.
  void RequireOrder(const std::string& name) const {
    const int64_t d = view_.dimension;
    std::vector<float> rows, log_odds((d + 1) * d);
    RandomStream random(0, kCheckPurpose, 0, 0);
    for (int64_t i = 0; i < d; ++i) rows.push_back(static_cast<float>(random.Next32() & 1));
    for (int64_t k = 0; k < d; ++k) {  // the same with all from variable k on flipped
      rows.insert(rows.end(), rows.begin(), rows.begin() + d);
      for (int64_t i = k; i < d; ++i) rows[(k + 1) * d + i] = 1 - rows[i];
    }
    view_.log_odds(rows, log_odds);
    for (int64_t k = 0; k < d; ++k)
      for (int64_t i = 0; i <= k; ++i)
        if (!(std::abs(log_odds[(k + 1) * d + i] - log_odds[i]) <= 1e-4 * (1 + std::abs(log_odds[i]))))
          throw Error(ErrorCode::kBadModel,
                      fmt::format("'{}' cannot propose rows: {} of variable {} must be numbers that depend "
                                  "only on the variables before it",
                                  name, kLogOdds, i));
  }

  PolicySession start_, editor_;
  EditView view_;
  int64_t copies_;
};

}  // namespace

std::shared_ptr<const Proposal> MakeEditProposal(const onnx::ModelProto& model, const std::string& name,
                                                 int threads, const ProposalOptions& options) {
  return std::make_shared<EditProposal>(model, name, threads, options);
}

}  // namespace ort_ed
