#pragma once

#include <onnx/onnx_pb.h>

#include "models/base/made_base.h"
#include "tools/jobs/data/dataset.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// The options of `base made` in those of a run.
MadeBaseOptions GetBaseOptions(const TrainOptions& options);

// All of them, those between the variables themselves as well.
double CountWeights(const MadeBaseOptions& base, const Dataset& dataset);

// Of weights: what is right for all rows together, where a loss is the mean over rows. 0 for endless ones.
double PenaltyOfARow(double of_all_rows, const Dataset& dataset);

// The options of the phase in which the base learns, as a run of its own.
TrainOptions BasePhaseOptions(const TrainOptions& options, const Dataset& dataset);

// The network of the base before it has learned anything: independent variables with the means of the data.
onnx::ModelProto BuildBase(const TrainOptions& options, const Dataset& dataset);

// Where base_steps are not given: their default, which is less for networks of many weights.
void ResolveBaseSteps(TrainOptions& options, const Dataset& dataset);
// Leaves them to the time.
void ForgetBaseSteps(Choice& base);

}  // namespace ort_ed
