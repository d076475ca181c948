#include "trainer/learner/training_spec.h"

#include <algorithm>
#include <cmath>

#include <fnmatch.h>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

void Require(bool holds, const std::string& what, double value) {
  if (holds) return;
  std::string text = std::to_string(value);
  throw Error(ErrorCode::kInvalidArgument, what + ", not be " + text);
}

bool IsNonNegative(double value) { return value >= 0 && std::isfinite(value); }
bool IsFraction(double value) { return value >= 0 && value < 1; }

}  // namespace

void Validate(const TrainingSpec& spec) {
  Require(IsNonNegative(spec.loss.stabilisation), "the stabilisation w must be 0 or positive",
          spec.loss.stabilisation);
  Require(spec.loss.negatives >= 1, "the number of negatives M must be at least 1",
          static_cast<double>(spec.loss.negatives));
  const OptimizerSpec& o = spec.optimizer;
  Require(IsFraction(o.beta1), "beta1 must lie in [0, 1)", o.beta1);
  Require(IsFraction(o.beta2), "beta2 must lie in [0, 1)", o.beta2);
  Require(o.epsilon > 0 && std::isfinite(o.epsilon), "epsilon of the optimiser must be positive", o.epsilon);
  Require(IsFraction(o.momentum), "the momentum must lie in [0, 1)", o.momentum);
  Require(IsNonNegative(o.weight_decay), "the weight decay must be 0 or positive", o.weight_decay);
  Require(IsNonNegative(o.l1), "the l1 penalty must be 0 or positive", o.l1);
  Require(IsNonNegative(o.clip_norm), "the largest gradient norm must be positive, or 0 for no limit",
          o.clip_norm);
  Require(IsFraction(o.ema_decay), "the decay of the moving average must lie in [0, 1)", o.ema_decay);
}

std::vector<std::string> StateNames(const OptimizerSpec& spec) {
  std::vector<std::string> names = {"parameters", "velocity"};
  if (spec.kind != OptimizerKind::kSgd) names = {"parameters", "first_moment", "second_moment"};
  if (spec.ema_decay > 0) names.push_back("average");
  return names;
}

std::vector<bool> Select(const std::vector<std::string>& names, const std::vector<std::string>& patterns,
                         const std::string& what) {
  std::vector<bool> selected(names.size());
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (fnmatch(pattern.c_str(), names[i].c_str(), 0) != 0) continue;
      selected[i] = true;
      found = true;
    }
    if (found) continue;
    std::string candidates;
    for (const std::string& name : names) candidates += (candidates.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kInvalidArgument,
                what + ": the model has no parameter '" + pattern + "'; its parameters are: " + candidates);
  }
  return selected;
}

}  // namespace ort_ed
