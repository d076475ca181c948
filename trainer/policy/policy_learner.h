#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/policy/construction_policy.h"
#include "ort_ed/options.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/policy/construction_paths.h"

namespace ort_ed {

struct PolicyOptions {
  std::vector<int64_t> policy_hidden = {256, 256, 256};
  double policy_rate = 1e-3;
  double log_z_rate = 1;

  static void Describe(Declare<PolicyOptions>& declare);
};

// A construction policy in training, by trajectory balance with Adam.
class PolicyLearner {
 public:
  PolicyLearner(const PolicyOptions& options, const RowContext& rows);

  // As it is now: good until the next Learn() or Load().
  PolicyView view();

  // One step on paths whose ends have these energies; steps count from 1. Returns the loss before it,
  // mean delta^2 / 2. Throws kRuntime where that is not a number.
  double Learn(const ConstructionPaths& paths, std::span<const double> energies, int64_t step);

  // Where the policy has learned all, log sum_x exp(-U(x)).
  double log_z();

  // The form for deployment as an ONNX file.
  std::string Deploy();

  static constexpr char kOwner[] = "negatives/policy";
  std::vector<StateTensor> Save();
  void Load(std::span<const StateTensor> state);

 private:
  ConstructionPolicySpec spec_;
  double rate_;
  int threads_;
  Learner learner_;
  std::vector<float> states_;
};

}  // namespace ort_ed
