#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ort_ed {

// A trained tensor with the moments that an Adam step keeps of it; without moments: of an optimiser that has
// none.
struct TrainedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
  std::vector<std::span<const float>> moments = {};
};

struct TrainingProgress {
  int64_t steps = 0;  // done
  float learning_rate = 0;
};

// The bytes of a checkpoint file as ONNX Runtime's on-device training reads it (CheckpointState). Throws
// kInvalidArgument where the format cannot hold as much.
std::string WriteTrainingCheckpoint(std::span<const TrainedTensor> tensors, const TrainingProgress& progress);

}  // namespace ort_ed
