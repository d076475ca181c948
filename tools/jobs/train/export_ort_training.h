#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/observer.h"

namespace ort_ed {

// The files of ONNX Runtime's on-device training, as it calls them.
namespace ort_training_file {
inline constexpr char kTraining[] = "training_model.onnx";
inline constexpr char kEvaluation[] = "eval_model.onnx";
inline constexpr char kOptimizer[] = "optimizer_model.onnx";
inline constexpr char kCheckpoint[] = "checkpoint";
}  // namespace ort_training_file

struct OrtTrainingResult : JobResult {
  int64_t step = 0;        // of the checkpoint
  int64_t parameters = 0;  // that are trained
};

// Writes what ONNX Runtime's on-device training needs to go on with a run where it is: models with the loss
// of rows and negatives, its gradient and the optimiser, and a checkpoint with parameters and moments.
// `checkpoint`: of this step, else the newest. Throws kInvalidArgument for what that training does not have,
// kIo, kBadData, kBadModel.
OrtTrainingResult ExportOrtTraining(const std::string& run, const std::string& folder,
                                    std::optional<int64_t> checkpoint, Observer& observer);

}  // namespace ort_ed
