#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tools/jobs/train/metrics.h"

namespace ort_ed {

// In the metrics.
inline constexpr char kValidationLoss[] = "validation_loss";
inline constexpr char kValidationNll[] = "validation_nll";  // only where it can be relied on
inline constexpr char kRoughValidationNll[] = "validation_nll_rough";
inline constexpr char kValidationDraws[] = "validation_effective_draws";

struct BestRules {
  double lowest_loss = -std::numeric_limits<double>::infinity();  // those below are no better than it
  std::vector<int64_t> extra_steps = {};                          // which since() leaves out
};

// The best validation of a run so far: of two, the one with the higher likelihood where both are known, else
// that with the lower loss.
class BestValidation {
 public:
  BestValidation() = default;
  explicit BestValidation(BestRules rules) : rules_(std::move(rules)) {}
  // Goes on from the metrics of an interrupted run.
  explicit BestValidation(std::span<const MetricsLine> metrics, BestRules rules = {})
      : BestValidation(std::move(rules)) {
    for (const MetricsLine& line : metrics) {
      std::optional<double> loss, nll;
      for (const auto& [name, value] : line.values) {
        if (name == kValidationLoss) loss = value;
        if (name == kValidationNll) nll = value;
      }
      if (loss) Add(line.step, *loss, nll);
    }
  }

  // Whether this one is better than all before.
  bool Add(int64_t step, double loss, std::optional<double> nll = {}) {
    loss = std::max(loss, rules_.lowest_loss);
    const bool better = nll && !std::isnan(nll_) ? *nll < nll_ : loss < loss_;
    if (!better) {
      if (std::ranges::find(rules_.extra_steps, step) == rules_.extra_steps.end()) ++since_;
      return false;
    }
    loss_ = loss;
    nll_ = nll.value_or(kUnknown);
    step_ = step;
    since_ = 0;
    return true;
  }

  double loss() const { return loss_; }
  std::optional<double> nll() const {  // nats per row
    return std::isnan(nll_) ? std::nullopt : std::optional(nll_);
  }
  bool known() const { return !std::isinf(loss_); }
  int64_t step() const { return step_; }
  int64_t since() const { return since_; }  // validations after it

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  BestRules rules_;
  double loss_ = std::numeric_limits<double>::infinity();
  double nll_ = kUnknown;
  int64_t step_ = 0, since_ = 0;
};

}  // namespace ort_ed
