#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/jobs/data/dataset.h"
#include "tools/jobs/train/best_validation.h"
#include "tools/jobs/train/train_config.h"

namespace ort_ed {

// A run directory:
//   config.toml          the resolved configuration; `ort-ed train --config` with it repeats the run
//   metrics.jsonl        one JSON object a line
//   events.out.tfevents* the same for TensorBoard
//   checkpoints/         step-<N>.ckpt, the newest few
//   model.onnx           the deployable model as of the newest checkpoint
//   best.onnx            the same as of the lowest validation loss
//   curves.png           the metrics as a picture (drawn by the command, see TrainHooks::checkpoint)
namespace run_file {
inline constexpr char kConfig[] = "config.toml";
inline constexpr char kModel[] = "model.onnx";
inline constexpr char kBestModel[] = "best.onnx";
inline constexpr char kCurves[] = "curves.png";
inline constexpr char kCheckpoints[] = "checkpoints";
}  // namespace run_file

struct TrainProgress {
  int64_t step = 0;  // done
  int64_t steps = 0;
  double loss = 0;  // smoothed over some steps
  std::optional<double> validation_loss;
};

struct TrainHooks {
  std::function<void(const TrainProgress&)> progress;  // after every step
  std::function<void()> checkpoint;                    // after every checkpoint
  std::function<bool()> stop;                          // polled before every step
  SynthHook synth;
};

struct TrainResult {
  int64_t step = 0;
  bool complete = false;       // false: stopped by TrainHooks::stop, with a checkpoint of `step`
  std::optional<double> loss;  // mean of the last logged line, if any step was taken
  std::optional<double> validation_loss;
  BestValidation best;
};

enum class ExistingRun { kRefuse, kReplace };

// Trains from the beginning in a new run directory. Throws kInvalidArgument if `folder` is in use (kReplace:
// if it is anything but a run directory); whatever is wrong with configuration, data, model or device is
// found before anything is written. Throws kRuntime when the training diverges, with what to try; the
// checkpoints remain.
TrainResult StartTraining(TrainConfig config, const std::string& folder, ExistingRun existing,
                          const TrainHooks& hooks);

// The configuration of a run directory. Throws kInvalidArgument if it is none.
TrainConfig ReadRunConfig(const std::string& folder);

// Goes on from the newest whole checkpoint with the configuration of ReadRunConfig(), in which settings that
// MayChangeOnResume() may have been changed. The result is bit for bit that of an uninterrupted run with the
// same device and threads. Throws kInvalidArgument if configuration or data are not those of the checkpoint.
TrainResult ResumeTraining(TrainConfig config, const std::string& folder, const TrainHooks& hooks);

}  // namespace ort_ed
