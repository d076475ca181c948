#pragma once

#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// Takes the steps of a training: rows, their negatives, the network's step and the source's own.
class Stepper {
 public:
  // Of a setup that outlives it.
  explicit Stepper(RunSetup& setup);

  // The step after `step` others, at this progress of the whole training. Where the result HasDiverged() the
  // source has not learned.
  StepResult Take(int64_t step, double learning_rate, double progress);

  const ContrastiveBatch& batch() const { return batch_; }  // of the last step

 private:
  RunSetup& setup_;
  ContrastiveBatch batch_;
};

ContrastiveBatch MakeBatch(const RunSetup& setup, int64_t positives);

// Also where every number is still finite, but beyond all reason.
bool HasDiverged(const StepResult& result);

}  // namespace ort_ed
