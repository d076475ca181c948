#pragma once

#include <memory>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// Whether the base is trained as the first phase of a run, or comes from the file of another one.
bool IsLearnedHere(const Choice& base);
bool IsBaseFile(const Choice& base);

// The network of the base before it has learned anything: independent variables with the means of the data.
onnx::ModelProto BuildBase(const TrainOptions& options, const Dataset& dataset);

// The first phase of a run: trains the base by maximum likelihood, in a run directory of its own (`folder`;
// empty: in memory), and goes on where an earlier process was interrupted. Returns the network of the best
// validation; nothing if the observer asked to stop before the end.
std::optional<onnx::ModelProto> LearnBase(const TrainOptions& options,
                                          const std::shared_ptr<Dataset>& dataset, const std::string& folder,
                                          Observer& observer);

}  // namespace ort_ed
