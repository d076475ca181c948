#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "ort_ed/options.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/train/export.h"

namespace ort_ed {

// What is written of a run or a model.
struct ExportOptions {
  std::optional<int64_t> checkpoint;
  std::optional<std::string> weights;
  double threshold = 0;
  std::vector<std::string> threshold_on = {"*"};
  bool with_gradient = false;

  static void Describe(Declare<ExportOptions>& declare);
};

struct ExportResult : JobResult {
  onnx::ModelProto model;            // deployable
  std::optional<int64_t> step;       // of the checkpoint
  std::optional<Sparsity> sparsity;  // where a threshold was asked for
};

// The checkpoint of a run at this step, else the newest. Throws kInvalidArgument where there is none.
Checkpoint ReadCheckpointOf(const std::string& run, std::optional<int64_t> step, Observer& observer);

// `source`: a run directory, or an .onnx file. Throws OptionError, kIo, kBadModel, kInvalidArgument.
ExportResult ExportModel(const std::string& source, const ExportOptions& options, Observer& observer);

}  // namespace ort_ed
