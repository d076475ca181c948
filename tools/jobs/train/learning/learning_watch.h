#pragma once

#include <map>
#include <optional>
#include <string>

#include "tools/jobs/train/learning/loss_bounds.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/validation/held_out_likelihood.h"

namespace ort_ed {

struct LearningVerdict {
  bool learned = true;
  bool known = true;      // false: too few steps to tell
  std::string text = {};  // what there is to say, with what to change; empty: nothing
};

// Finds trainings that learn nothing: the loss at a bound, no gradient, a likelihood no better than that of
// the base distribution alone. Says how it looks so far; who asks decides when.
class LearningWatch {
 public:
  explicit LearningWatch(const RunSetup& setup);

  void AddStep(const StepResult& result);
  // `base_nll`: of what is under the network by itself.
  void AddValidation(const LikelihoodEstimate& likelihood, double base_nll);

  LearningVerdict Judge() const;

  // For checkpoints.
  const std::map<std::string, double>& sums() const { return sums_; }
  void Reset(std::map<std::string, double> sums) { sums_ = std::move(sums); }

 private:
  double Sum(const std::string& name) const;
  double Recent(const std::string& name) const { return Sum("recent_" + name) / Sum("recent_weight"); }
  bool NegativesWereEasy() const;
  LearningVerdict JudgeLikelihood(double gain) const;
  LearningVerdict JudgeEqualEnergies() const;
  LearningVerdict JudgeBaseThatMissesMuch() const;

  std::optional<LossBounds> bounds_;
  bool constant_ = false;               // every row is the same
  bool of_network_alone_ = false;       // whose loss tells it from a learned base
  bool has_base_;                       // else likelihoods are compared with those of independent variables
  std::string against_easy_negatives_;  // what to change
  std::map<std::string, double> sums_;
};

}  // namespace ort_ed
