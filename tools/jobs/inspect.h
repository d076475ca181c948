#pragma once

#include <vector>

#include "models/inspect/model_summary.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "trainer/autodiff/rules.h"

namespace ort_ed {

struct InspectResult : JobResult {
  ModelSummary summary;
  std::vector<Differentiability> differentiability;  // of summary.operators
  std::vector<BlindSpot> blind_spots;                // where dU/dx does not see the energy
};

// What an energy model is: dimension, parameters, cost, operators, metadata. Functions of the model are
// inlined first, as in training: what counts is what they compute. Throws kBadModel.
InspectResult Inspect(const LoadedModel& model);

}  // namespace ort_ed
