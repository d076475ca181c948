#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ort_ed/sampler.h"
#include "trainer/policy/construction_paths.h"

namespace ort_ed {

// The policy.onnx of a training by eb-gfn, as something that proposes rows. Copies are the same policy.
class PolicyFile {
 public:
  // Throws kIo and kBadModel, naming the file, where it is no policy, and OptionError of `key` where it is
  // one of rows of another width.
  PolicyFile(const std::string& path, int64_t dimension, int threads, const std::string& key = "policy");

  const PolicyView& view() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Throws OptionError of `key` where there are other variables than binary ones, which policies do not build.
void RequireBinary(const Variables& variables, const std::string& key);

// Chains that move by what a policy rebuilds: of each chain it takes `variables` away and sets them again,
// and the whole is accepted or not (Metropolis and Hastings), so that the target is left invariant whatever
// the policy is worth. Throws kInvalidArgument for chains with variables that are kept.
std::unique_ptr<Sampler> MakePolicySampler(const PolicyFile& policy, const EnergyPath& target,
                                           int64_t variables);

}  // namespace ort_ed
