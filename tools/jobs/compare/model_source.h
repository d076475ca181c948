#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/metrics.h"

namespace ort_ed {

// What a training took. A file of a model tells the steps up to it, and not how many its base took.
struct TrainingCost {
  std::optional<int64_t> steps = {};
  bool on_learned_base = false;
  std::optional<int64_t> base_steps = {};  // of the phase before, in which the base was learned
  std::optional<double> seconds = {};      // of all these steps
};
// "200", "base 850 + 200", "base ? + 200"; empty where no steps are known.
std::string DescribeSteps(const TrainingCost& cost);

// A model as people name it: the folder of a run, or an .onnx file, with what is known of its training.
struct ModelSource {
  std::string name;  // as it was given
  std::string file;  // of the model
  bool is_run = false;
  LoadedModel model;   // of a run: best.onnx, or model.onnx where rows were not held out
  RunMetrics metrics;  // of a run
  std::map<std::string, std::string> settings;  // of a run its configuration, else what the metadata tell
  std::optional<int64_t> step;                  // of the training that the model is of
  TrainingCost cost;                            // of the whole training

  std::string ShortName() const;  // without folders
};

// Throws kIo, kBadModel, and kInvalidArgument for a folder without a run or a run without a model.
ModelSource OpenSource(const std::string& path, const LoadOptions& load);

// What the metadata tell of architecture and training, as text by key.
std::map<std::string, std::string> SettingsOfModel(const ModelMetadata& metadata);

// Values of float initialisers.
int64_t CountParameters(const LoadedModel& model);

}  // namespace ort_ed
