#pragma once

#include <memory>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/train_options.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

// What a run trains, on what, and how: everything its options name, opened and made.
struct RunSetup {
  TrainOptions options;  // resolved: absolute paths, the real device, nothing left to "auto"
  Dataset dataset;
  onnx::ModelProto model;  // with the parameters to start from; ready to be deployed
  std::unique_ptr<NegativeSource> negatives;
  std::unique_ptr<Learner> learner;
  std::vector<std::string> warnings;  // which the observer has heard

  BatchShape shape() const;
};

// For a run from the beginning. Throws whatever is wrong with options, data, model or device; writes nothing.
RunSetup SetUp(const TrainOptions& options, Observer& observer);
// The same with rows that are in memory, in place of the file that the options name.
RunSetup SetUp(const TrainOptions& options, Dataset dataset, Observer& observer);

// For a run that goes on from a checkpoint. Throws OptionError or kInvalidArgument if options or data are not
// those of the checkpoint.
RunSetup SetUp(const TrainOptions& options, const Checkpoint& checkpoint, Observer& observer);

// The options that may not change when a run is resumed, as text by key.
std::map<std::string, std::string> FixedOptions(const TrainOptions& options);

// The ort_ed.training metadata of a model trained for `step` steps: a JSON object. Tells nothing of the
// machine.
std::string DescribeTraining(const RunSetup& setup, int64_t step);

}  // namespace ort_ed
