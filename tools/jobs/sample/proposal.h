#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/random.h"
#include "ort_ed/sampler.h"

namespace ort_ed {

// What the samplers that eb-gfn and aloe train propose for a model. Both come to a row in many ways, so that
// the probability of a row is not known; what they say of it is enough for exact results whatever they have
// learned. A row depends on its own stream of random numbers alone.
class Proposal {
 public:
  virtual ~Proposal() = default;

  struct Rows {
    std::vector<uint8_t> rows;  // [rows, D]
    std::vector<double>
        log_likelihoods;  // with these in the place of log q(x), the mean of exp(-U(x)) / q(x) is Z
  };
  // One new row for each stream.
  virtual Rows Draw(std::vector<RandomStream>& random) const = 0;

  struct Moves {
    std::vector<uint8_t> rows;
    // log of the probability of the way back from each row, over that of the way there: what Metropolis and
    // Hastings need.
    std::vector<double> log_ratios;
  };
  virtual Moves Move(std::span<const uint8_t> rows, std::vector<RandomStream>& random) const = 0;
};

struct ProposalOptions {
  std::optional<int64_t> variables;  // of eb-gfn: rebuilt in a move
  std::optional<int64_t> copies;     // of aloe: ways to a row that are looked at

  static constexpr char kVariablesKey[] = "policy_variables", kCopiesKey[] = "policy_copies";
  static constexpr int64_t kCopies = 10;
};

// Throws OptionError of `key` where there are other variables than binary ones, which policies do not build.
void RequireBinary(const Variables& variables, const std::string& key);

// What the file says that it is. Throws kIo and kBadModel, naming the file, where it is no policy, and
// OptionError where it is one of rows of another width or has no use for an option.
std::shared_ptr<const Proposal> OpenProposal(const std::string& path, int64_t dimension, int threads,
                                             const ProposalOptions& options = {});

// Chains that move by proposals, each accepted or not (Metropolis and Hastings), so that the target is left
// invariant whatever the policy is worth. Throws kInvalidArgument for chains with variables that are kept.
std::unique_ptr<Sampler> MakePolicySampler(std::shared_ptr<const Proposal> proposal,
                                           const EnergyPath& target);

}  // namespace ort_ed
