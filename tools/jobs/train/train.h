#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/learning/learning_watch.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/train_options.h"
#include "tools/jobs/train/validation/best_validation.h"
#include "tools/jobs/train/validation/held_out_likelihood.h"

namespace ort_ed {

struct TrainResult : JobResult {
  int64_t step = 0;
  bool in_base = false;        // stopped early in the phase that trains the base, and `step` is one of that
  std::optional<double> loss;  // mean of the last logged line, if any step was taken
  std::optional<double> validation_loss;
  std::optional<LikelihoodEstimate> validation_likelihood;
  LearningVerdict learning;
  BestValidation best;
  onnx::ModelProto model;  // deployable, with the averaged weights where there is an average
  std::optional<onnx::ModelProto> best_model;  // the same at the best validation, of Train() alone
};

// Trains on rows in memory. Nothing is written; the model is in the result. Throws kRuntime when the training
// diverges, with what to try.
TrainResult Train(const TrainOptions& options, Dataset dataset, Observer& observer);

// Trains from the beginning in a new run directory, on the data that the options name. Throws
// kInvalidArgument if `folder` is in use (kReplace: if it is anything but a run directory); whatever is wrong
// with options, data, model or device is found before anything is written. The observer hears of every saved
// model; when the training diverges the checkpoints remain.
TrainResult TrainInFolder(const TrainOptions& options, const std::string& folder, ExistingRun existing,
                          Observer& observer);

// What the configuration of a run directory gives. Throws kInvalidArgument if it is none.
GivenOptions ReadRunOptions(const std::string& folder);

// Goes on from the newest whole checkpoint with the options of ReadRunOptions(), of which those that
// may_change may have been changed. The result is bit for bit that of an uninterrupted run with the same
// device and threads. Throws OptionError or kInvalidArgument if options or data are not those of the
// checkpoint.
TrainResult ResumeInFolder(const TrainOptions& options, const std::string& folder, Observer& observer);

}  // namespace ort_ed
