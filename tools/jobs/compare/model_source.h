#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/metrics.h"

namespace ort_ed {

// A model as people name it: the folder of a run, or an .onnx file, with what is known of its training.
struct ModelSource {
  std::string name;  // as it was given
  std::string file;  // of the model
  bool is_run = false;
  LoadedModel model;                 // of a run: best.onnx, or model.onnx where rows were not held out
  std::vector<MetricsLine> metrics;  // of a run
  std::map<std::string, std::string> settings;  // of a run its configuration, else what the metadata tell
  std::optional<int64_t> steps;                 // of the training
  std::optional<double> seconds;                // that those steps took

  std::string ShortName() const;  // without folders
};

// Throws kIo, kBadModel, and kInvalidArgument for a folder without a run or a run without a model.
ModelSource OpenSource(const std::string& path, const LoadOptions& load);

// What the metadata tell of architecture and training, as text by key.
std::map<std::string, std::string> SettingsOfModel(const ModelMetadata& metadata);

// Values of float initialisers.
int64_t CountParameters(const LoadedModel& model);

}  // namespace ort_ed
