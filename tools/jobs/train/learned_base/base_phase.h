#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/stopwatch.h"
#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// Whether the base is trained as the first phase of a run, or comes from the file of another one.
bool IsLearnedHere(const Choice& base);
bool IsBaseFile(const Choice& base);

struct BasePhase {
  std::optional<onnx::ModelProto> network =
      {};            // of the best validation; nothing: the observer asked to stop
  int64_t step = 0;  // that the phase has come to
  std::vector<std::string> warnings = {};
};

// The first phase of a run: trains the base by maximum likelihood, in a run directory of its own inside that
// of the run (`folder`; empty: in memory), and goes on where an earlier process was interrupted. Of a run
// with a time it takes a share, by base_steps, which become part of the options and of the configuration in
// the folder. `clock` is that of the run.
BasePhase LearnBase(TrainOptions& options, const std::shared_ptr<Dataset>& dataset, const std::string& folder,
                    const Stopwatch& clock, Observer& observer);

}  // namespace ort_ed
