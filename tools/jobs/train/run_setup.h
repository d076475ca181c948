#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/stopwatch.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/train_options.h"
#include "trainer/learner/learner.h"
#include "trainer/learner/parameter_choice.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

// What a run trains, on what, and how: everything its options name, opened and made.
struct RunSetup {
  TrainOptions options;                 // resolved: absolute paths, the real device, nothing left to "auto"
  std::shared_ptr<Dataset> dataset;     // the phases of a run share it
  std::optional<ParameterRoles> roles;  // of a user's file, or of a run that goes on
  onnx::ModelProto model;               // with the parameters to start from; ready to be deployed
  std::shared_ptr<const BaseDistribution> base;  // a learned one under the network; null: none
  std::unique_ptr<NegativeSource> negatives;
  std::unique_ptr<Learner> learner;
  std::vector<std::string> warnings;  // which the observer has heard
  Collective* processes = &Alone();   // that train together
  Stopwatch clock;                    // of the run, earlier processes and the learning of its base included

  BatchShape shape() const;
};

// What a run starts from where that is not what its options name.
struct RunSources {
  std::shared_ptr<Dataset> dataset = {};      // rows in memory
  const onnx::ModelProto* network = nullptr;  // without its base
  const onnx::ModelProto* base = nullptr;     // of `base made`; null: one that has learned nothing
  const Checkpoint* checkpoint = nullptr;     // to go on from
};

// Throws whatever is wrong with options, data, model or device, also OptionError or kInvalidArgument if
// options or data are not those of the checkpoint; writes nothing.
RunSetup SetUp(const TrainOptions& options, const RunSources& sources, Observer& observer);

// What a checkpoint and the options of its run tell without the data: no rows and no learner.
RunSetup OpenWithoutData(const TrainOptions& options, const Checkpoint& checkpoint);

// The network that a learner of the run gets. `contract`: of the model.
PreparedModel TrainedNetwork(const RunSetup& setup, const EnergyContract& contract);

}  // namespace ort_ed
