#pragma once

#include <vector>

#include "models/graph/graph_builder.h"
#include "trainer/optimizer/optimizer_options.h"

namespace ort_ed {

// What of a step depends on its number and the learning rate, one value each, computed in double precision.
struct StepControl {
  double learning_rate = 0;
  double step_size = 0;  // of theta along its direction; Adam's bias corrections included
  double epsilon = 0;    // Adam: of the denominator, in units of the uncorrected second moment
  double threshold = 0;  // step size of the l1 penalty: what step_size is for a constant gradient
  double average = 0;    // weight of the new parameters in their moving average
};
StepControl MakeControl(const OptimizerOptions& options, double learning_rate, int64_t step);

// The members of StepControl as tensors [1].
struct ControlValues {
  Value learning_rate, step_size, epsilon, threshold, average;
};

// Strengths of penalties by parameter: scalars, or vectors where only some parameters have one.
struct PenaltyValues {
  Value weight_decay, l1;
};

// An optimiser with its penalties.
struct OptimizerSetup {
  const OptimizerOptions& options;
  const PenaltyOptions& penalties;
};

// The gradient that is clipped: that of the loss, with an l1 subgradient in it where that is the penalty's
// form.
Value EmitPenalisedGradient(const OptimizerSetup& setup, const Value& theta, const Value& gradient,
                            const PenaltyValues& strengths);

// What clipping multiplies a gradient of this norm by.
double ClipFactor(const OptimizerOptions& options, double norm);

// One step for the vectors `state`, in the order of StateNames(), along a gradient that is clipped. Element
// by element, and each vector is read for the last time where the next one is made: they may share their
// memory.
std::vector<Value> EmitUpdate(const OptimizerSetup& setup, const std::vector<Value>& state,
                              const Value& gradient, const ControlValues& control,
                              const PenaltyValues& strengths);

struct OptimizerNodes {
  std::vector<Value> next_state;  // in the order of StateNames()
  Value norms;                    // [2]: of the gradient before clipping, of the new parameters
};

// All of it: one step for the whole of the parameters.
OptimizerNodes EmitOptimizer(const OptimizerSetup& setup, const std::vector<Value>& state,
                             const Value& gradient, const ControlValues& control,
                             const PenaltyValues& strengths);

}  // namespace ort_ed
