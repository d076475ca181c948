#include "tools/jobs/train/export_ort_training.h"

#include <map>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/export_model.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/setup/make_learner.h"
#include "tools/jobs/train/train.h"
#include "trainer/ort_training/training_checkpoint.h"
#include "trainer/ort_training/training_models.h"

namespace ort_ed {
namespace {

using StateByKind = std::map<std::string, std::map<std::string, std::span<const float>>>;

StateByKind SortByKind(std::span<const StateTensor> state) {
  StateByKind sorted;
  for (const StateTensor& tensor : state) sorted[tensor.kind][tensor.parameter] = tensor.values;
  return sorted;
}

std::string WriteParameters(const std::vector<ParameterSlot>& parameters, StateByKind& state,
                            const TrainingProgress& progress) {
  std::vector<TrainedTensor> tensors;
  for (const ParameterSlot& slot : parameters) {
    TrainedTensor& tensor = tensors.emplace_back(slot.name, slot.shape, state["parameters"][slot.name]);
    for (const char* kind : {"first_moment", "second_moment"})
      if (state.contains(kind)) tensor.moments.push_back(state[kind][slot.name]);
  }
  return WriteTrainingCheckpoint(tensors, progress);
}

void WarnOfDifferences(const RunSetup& setup, const LearnerOptions& options, OrtTrainingResult& result,
                       Observer& observer) {
  if (setup.negatives->of_network_alone())
    Warn(
        "the models are of the network without its base distribution, as it is trained: their energies are "
        "not those of the run's model",
        result, observer);
  if (options.optimizer.ema > 0)
    Warn(
        "ONNX Runtime's training keeps no moving average of the parameters: it goes on with those of the "
        "last step",
        result, observer);
  if (!options.dropout.layers.empty())
    Warn("the models leave no units out, as the run does in its steps", result, observer);
}

}  // namespace

OrtTrainingResult ExportOrtTraining(const std::string& run, const std::string& folder,
                                    std::optional<int64_t> step, Observer& observer) {
  const Checkpoint checkpoint = ReadCheckpointOf(run, step, observer);
  TrainOptions options;
  ReadRunOptions(run).ApplyTo(options);
  const RunSetup setup = OpenWithoutData(options, checkpoint);
  LearnerOptions learner = MakeLearnerOptions(setup);
  OrtTrainingResult result;
  WarnOfDifferences(setup, learner, result, observer);
  learner.dropout = {};
  const std::vector<StateTensor> state = checkpoint.SelectTensors("energy");
  StateByKind sorted = SortByKind(state);
  const PreparedModel network = TrainedNetwork(setup, CheckContract(setup.model, run));
  const TrainingModels models = MakeTrainingModels(network, learner, setup.shape(), sorted[kZeroMaskKind]);
  const TrainingProgress progress{checkpoint.step, static_cast<float>(options.optimizer.learning_rate)};
  const std::string bytes = WriteParameters(models.parameters, sorted, progress);
  MakeFolder(folder);
  WriteModel(models.training, folder + "/" + ort_training_file::kTraining);
  WriteModel(models.evaluation, folder + "/" + ort_training_file::kEvaluation);
  WriteModel(models.optimizer, folder + "/" + ort_training_file::kOptimizer);
  WriteFileAtomically(folder + "/" + ort_training_file::kCheckpoint, bytes);
  result.step = checkpoint.step;
  result.parameters = TotalSize(models.parameters);
  return result;
}

}  // namespace ort_ed
