#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/architectures/architectures.h"
#include "ort_ed/options.h"
#include "tools/jobs/data/dataset.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/objective/objective.h"
#include "trainer/optimizer/optimizer_options.h"

namespace ort_ed {

// What is trained.
struct NetworkOptions {
  Choice model = "mlp";  // an architecture, or an .onnx file
  std::string image_shape;
  Choice base = "auto";
  std::vector<std::string> frozen;
  std::vector<std::string> trainable;
  bool freeze_zeros = false;
  std::vector<std::string> freeze_zeros_parameters = {"*"};

  static void Describe(Declare<NetworkOptions>& declare);
  bool IsFile() const { return model.kind.ends_with(".onnx"); }
};

inline constexpr char kAutoMethod[] = "auto";        // chosen when the rows are known
inline constexpr char kNoiseMethod[] = "bernoulli";  // where nothing better fits

// What it is told from.
struct ContrastOptions {
  Choice method = kAutoMethod;
  int64_t negatives = 4;

  static void Describe(Declare<ContrastOptions>& declare);
};

struct BatchOptions {
  int64_t batch_size = 256;
  int64_t micro_batch = 0;
  std::optional<int64_t> shards = {};
  int64_t seed = 0;

  static void Describe(Declare<BatchOptions>& declare);
};

struct ScheduleOptions {
  int64_t warmup_steps = 0;
  std::string decay = "cosine";
  double final_rate = 0;

  static void Describe(Declare<ScheduleOptions>& declare);
};

// How long, where, and what is told on the way; may change when a run is resumed.
struct RunOptions {
  // One of the three decides. What is given as epochs or time becomes steps before the first is taken.
  int64_t steps = 10000;
  std::optional<double> epochs;
  std::optional<Period> time;
  std::string device = "cpu";
  int threads = 0;
  Period log_every = {.steps = 50};
  Period validate_every = {.steps = 500};
  int64_t patience = 0;
  Period checkpoint_every = {.seconds = 60};
  int64_t keep_checkpoints = 3;

  static void Describe(Declare<RunOptions>& declare);
};

inline constexpr char kAutoObjective[] = "auto";  // that of the method

// Everything one can choose about a training.
struct TrainOptions {
  DataOptions data;
  NetworkOptions network;
  ContrastOptions contrast;
  Choice objective = kAutoObjective;
  PenaltyOptions penalties;
  OptimizerOptions optimizer;
  BatchOptions batch;
  ScheduleOptions schedule;
  RunOptions run;

  static void Describe(Declare<TrainOptions>& declare);

  // Of a step, which counts from 1: linear warm-up, then constant or decay until the last.
  double LearningRate(int64_t step) const;
  // Of a step, which counts from 1: 0 at the first, 1 at the last.
  double Progress(int64_t step) const;
};

// Throws OptionError for values that contradict one another; each by itself is checked by its declaration.
void CheckTogether(const TrainOptions& options);

}  // namespace ort_ed
