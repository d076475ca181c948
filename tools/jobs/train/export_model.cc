#include "tools/jobs/train/export_model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "tools/jobs/check.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/train.h"
#include "trainer/autodiff/blind_spots.h"
#include "trainer/autodiff/input_gradient.h"
#include "trainer/graph/half_parameters.h"

namespace ort_ed {
namespace {

bool HaveSameWeights(const onnx::ModelProto& a, const onnx::ModelProto& b) {
  return std::ranges::equal(a.graph().initializer(), b.graph().initializer(),
                            [](const onnx::TensorProto& x, const onnx::TensorProto& y) {
                              return x.name() == y.name() && x.raw_data() == y.raw_data() &&
                                     std::ranges::equal(x.float_data(), y.float_data());
                            });
}

// The energies of training rows, where the run's own model has the same weights: the rows are not read again.
void CopyEnergySketch(const std::string& folder, onnx::ModelProto& model) {
  const std::string path = folder + "/" + run_file::kModel;
  if (!std::filesystem::is_regular_file(path)) return;
  const onnx::ModelProto trained = LoadModel(path);
  if (!HaveSameWeights(trained, model)) return;
  for (const char* key : {metadata_key::kEnergyQuantiles, metadata_key::kEnergyRows})
    SetMetadata(model, key, GetMetadata(trained, key));
}

void RefuseOptionsOfRuns(const ExportOptions& options) {
  constexpr char kReason[] = "has no effect with an .onnx file; it needs a run directory";
  if (options.checkpoint) throw OptionError("checkpoint", kReason, OptionError::Problem::kNoEffect);
  if (options.weights) throw OptionError("weights", kReason, OptionError::Problem::kNoEffect);
}

}  // namespace

void ExportOptions::Describe(Declare<ExportOptions>& declare) {
  using O = ExportOptions;
  declare("checkpoint", &O::checkpoint, "[0, inf)", "the checkpoint of this step").Default("the newest");
  declare("weights", &O::weights, "ema|raw",
          "the moving average of the weights, or the weights of the last step")
      .Default("ema");
  declare(
      "threshold", &O::threshold, "[0, inf)",
      "set parameters with a magnitude below it to zero; `ort-ed train --freeze-zeros` refits the others");
  declare("threshold_on", &O::threshold_on, "PATTERN,...", "patterns of the parameters with a threshold")
      .When("threshold", "(0, inf)");
  declare("with_gradient", &O::with_gradient, "",
          "with the graph of dU/dx that gradient-guided samplers need; plain scoring does not load it");
}

Checkpoint ReadCheckpointOf(const std::string& folder, std::optional<int64_t> step, Observer& observer) {
  ReadRunOptions(folder);  // is it a run at all?
  const CheckpointFolder checkpoints(folder + "/" + run_file::kCheckpoints);
  std::optional<Checkpoint> found = step ? checkpoints.Read(*step) : checkpoints.ReadNewest(observer);
  if (!found) throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no checkpoint yet", folder));
  return std::move(*found);
}

ExportResult ExportModel(const std::string& source, const ExportOptions& options, Observer& observer) {
  CheckOptions(options);
  ExportResult result;
  if (std::filesystem::is_directory(source)) {
    const Checkpoint checkpoint = ReadCheckpointOf(source, options.checkpoint, observer);
    result.step = checkpoint.step;
    result.model = RestoreModel(checkpoint, options.weights == "raw" ? Weights::kRaw : Weights::kAverage);
    NarrowParameters(result.model);
    CopyEnergySketch(source, result.model);
  } else {
    RefuseOptionsOfRuns(options);
    result.model = LoadModel(source);
  }
  for (const std::string& warning : PrepareForDeployment(result.model, source))
    Warn(warning, result, observer);
  if (options.threshold > 0)
    result.sparsity = ThresholdParameters(result.model, options.threshold, options.threshold_on);
  if (options.with_gradient) {
    AttachInputGradient(result.model);
    CheckOnnx(result.model, source);
    if (const auto spots = FindBlindSpots(result.model); !spots.empty())
      Warn(AdviceOnBlindSpots(spots), result, observer);
  }
  return result;
}

}  // namespace ort_ed
