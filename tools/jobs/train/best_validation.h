#pragma once

#include <limits>
#include <optional>
#include <span>

#include "tools/jobs/train/metrics.h"

namespace ort_ed {

// In the metrics. Where there is a likelihood, it is what models are compared by.
inline constexpr char kValidationLoss[] = "validation_loss";
inline constexpr char kValidationNll[] = "validation_nll";

// The lowest validation loss of a run so far.
class BestValidation {
 public:
  BestValidation() = default;
  // Goes on from the metrics of an interrupted run.
  explicit BestValidation(std::span<const MetricsLine> metrics) {
    for (const MetricsLine& line : metrics) {
      std::optional<double> loss, nll;
      for (const auto& [name, value] : line.values) {
        if (name == kValidationLoss) loss = value;
        if (name == kValidationNll) nll = value;
      }
      if (loss) Add(line.step, nll.value_or(*loss));
    }
  }

  // Whether this loss is lower than all before.
  bool Add(int64_t step, double loss) {
    if (!(loss < loss_)) {
      ++since_;
      return false;
    }
    loss_ = loss;
    step_ = step;
    since_ = 0;
    return true;
  }

  double loss() const { return loss_; }
  int64_t step() const { return step_; }    // 0: there was none
  int64_t since() const { return since_; }  // validations after it

 private:
  double loss_ = std::numeric_limits<double>::infinity();
  int64_t step_ = 0, since_ = 0;
};

}  // namespace ort_ed
