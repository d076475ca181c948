#pragma once

#include "models/graph/graph_builder.h"
#include "trainer/learner/training_spec.h"

namespace ort_ed {

// The stabilised energy discrepancy of groups of one positive and its M negatives (LossSpec), with its
// gradient with respect to the energies: since the loss sees the parameters only through the energies,
// d loss / d theta = sum_i c_i dU(x_i) / d theta.
struct EdLoss {
  Value losses;          // [3]: loss, energy of the positives, energy of the negatives, all weighted sums
  Value energy_weights;  // c, of the shape of the energies
};

// `energies`: groups * (1 + M) values, [rows] or [rows, 1]. `log_weights`: [groups, 1 + M], or NoValue
// without weights. `group_weight`: [1]; 1 / groups makes the loss a mean, smaller values leave room for the
// other micro-batches of a batch.
EdLoss EmitEdLoss(const LossSpec& spec, const Value& energies, const Value& log_weights,
                  const Value& group_weight);

// Cuts `value` along an axis, in the form that the model's opset wants.
std::vector<Value> EmitSplit(const Value& value, int64_t axis, std::span<const int64_t> sizes);

}  // namespace ort_ed
