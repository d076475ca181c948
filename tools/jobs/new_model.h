#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "ort_ed/options.h"
#include "tools/jobs/data/binarise_options.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// A model with initial parameters.
struct NewModelOptions {
  Choice architecture;
  std::optional<int64_t> dimension;
  std::string image_shape;
  std::string base;  // a file of rows
  double base_smoothing = 0.01;
  std::optional<double> base_mean;
  BinariseOptions binarise;
  uint64_t seed = 0;

  static void Describe(Declare<NewModelOptions>& declare);
};

struct NewModelResult : JobResult {
  onnx::ModelProto model;
  int64_t dimension = 0;
  int64_t parameters = 0;
};

// Throws OptionError, kIo, kBadData.
NewModelResult NewModel(const NewModelOptions& options, Observer& observer);

}  // namespace ort_ed
