#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/jobs/train/checkpoint.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

enum class Weights {
  kAverage,  // the moving average; the parameters themselves in a run without one
  kRaw,
};

// The model of a checkpoint with its trained weights. Throws kBadData, naming the tensor, where state and
// model do not belong together.
onnx::ModelProto RestoreModel(const Checkpoint& checkpoint, Weights weights);

// Tells in the metadata which weights the model has, if they tell of its training.
void NoteWeights(onnx::ModelProto& model, Weights weights);

// Writes the model to a file, which appears whole or not at all, without holding its bytes. Throws kIo.
void WriteModel(const onnx::ModelProto& model, const std::string& path);

// Frees the values of the parameters that `state` carries anyway: what remains is Checkpoint::model.
void RemoveParameters(onnx::ModelProto& model, std::span<const StateTensor> state);

// Sets the entries with a magnitude below `threshold` to zero, in the trained parameters that the patterns
// select, and forgets what is no longer true. Throws OptionError for a threshold that is not positive or a
// pattern that selects nothing.
struct Sparsity {
  int64_t zeros = 0;    // of the selected parameters, old ones included
  int64_t entries = 0;  // of the selected parameters
};
Sparsity ThresholdParameters(onnx::ModelProto& model, double threshold,
                             const std::vector<std::string>& patterns);

// Makes the model ready to be deployed: completes the metadata and checks the contract and the graph. `name`
// stands for the model in messages. Returns warnings. Throws kBadModel.
std::vector<std::string> PrepareForDeployment(onnx::ModelProto& model, const std::string& name);

}  // namespace ort_ed
