#pragma once

#include <memory>

#include <onnx/onnx_pb.h>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/train_config.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {

// What a run trains, on what, and how: everything its configuration names, opened and made.
struct RunSetup {
  TrainConfig config;  // resolved: absolute paths, the real device, nothing left to "auto"
  Dataset dataset;
  onnx::ModelProto model;                      // with the parameters to start from; ready to be deployed
  std::unique_ptr<Perturbation> perturbation;  // of the last step, if it changes: validation uses it always
  std::unique_ptr<Learner> step;
};

// For a run from the beginning. Throws whatever is wrong with configuration, data, model or device; writes
// nothing.
RunSetup SetUp(TrainConfig config, const SynthHook& synth);

// For a run that goes on from a checkpoint. Throws kInvalidArgument if configuration or data are not those of
// the checkpoint.
RunSetup SetUp(TrainConfig config, const Checkpoint& checkpoint, const SynthHook& synth);

// The perturbation of a step, which counts from 1.
std::unique_ptr<Perturbation> PerturbationOf(const RunSetup& setup, int64_t step);

// The ort_ed.training metadata of a model trained for `step` steps: a JSON object.
std::string DescribeTraining(const RunSetup& setup, int64_t step);

}  // namespace ort_ed
