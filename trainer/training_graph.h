#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/training_spec.h"

namespace ort_ed {

// One trained tensor: where it lies in the flat vectors of the training state.
struct ParameterSlot {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0;
  int64_t size = 0;
};

std::vector<std::string> NamesOf(const std::vector<ParameterSlot>& slots);

// Names of the graphs' inputs and outputs. State vectors are called StateTensorName(kind) for the kinds of
// StateNames(); an output that takes the place of an input is called Next(input).
//   rows         uint8 [groups * (1 + M), D]: groups of one positive and its M negatives
//   log_weights  float [groups, 1 + M]: log omega, only if LossSpec::weighted
//   control      float [kControlSize]: what changes from step to step, see ControlVector()
//   state        float [P] each
//   support      float [P]: see kSupportKind; only if TrainingSpec::fixed_zeros
//   gradient     float [P]: accumulated by kAccumulate, consumed by kApply
//   losses       float [3]: loss, mean energy of the positives, mean energy of the negatives (accumulated
//   too) norms        float [2]: norm of the gradient before clipping, norm of the new parameters
namespace training_tensor {
inline constexpr char kRows[] = "ort_ed.rows";
inline constexpr char kLogWeights[] = "ort_ed.log_weights";
inline constexpr char kControl[] = "ort_ed.control";
inline constexpr char kGradient[] = "ort_ed.gradient";
inline constexpr char kLosses[] = "ort_ed.losses";
inline constexpr char kReport[] = "ort_ed.report";
inline std::string StateTensorName(const std::string& kind) { return "ort_ed." + kind; }
inline std::string Next(const std::string& input) { return input + ".next"; }
}  // namespace training_tensor

// The graphs one can make of an energy model; all of standard ONNX operators.
enum class TrainingGraphKind {
  kStep,        // rows, log_weights, control, state, support -> next state, report
  kAccumulate,  // rows, log_weights, control, parameters, gradient, losses -> next gradient, next losses
  kApply,       // gradient, losses, control, state, support -> next state, report
  kEvaluate,    // rows, log_weights, control, parameters -> losses
};

struct TrainingGraph {
  onnx::ModelProto model;
  std::vector<ParameterSlot> parameters;  // in the order of the flat vectors, P values in total
  int64_t dimension = 0;
};

// What BuildTrainingGraph() trains: the float initialisers that influence the energy, but those that are
// frozen. Throws kBadModel where the model breaks the contract or cannot be differentiated, and
// kInvalidArgument for a pattern that selects nothing or if nothing is left to train.
std::vector<ParameterSlot> TrainedParameters(const onnx::ModelProto& energy_model,
                                             const std::vector<std::string>& frozen);

// Everything of a step (energies, loss, weights c, gradients, clipping, optimiser, moving average) becomes
// nodes of one model. The trained parameters become slices of one flat vector, so that the optimiser costs
// the same for many small tensors as for one large one. Throws as TrainedParameters() and Validate() do.
TrainingGraph BuildTrainingGraph(const onnx::ModelProto& energy_model, const TrainingSpec& spec,
                                 TrainingGraphKind kind = TrainingGraphKind::kStep);

// The state vector kSupportKind for a training that starts from `parameters`. Throws kInvalidArgument for a
// pattern that selects nothing.
std::vector<float> SupportOf(const std::vector<float>& parameters, const std::vector<ParameterSlot>& slots,
                             const std::vector<std::string>& fixed_zeros);

// The values of `control` for one step: 1 / number of groups of the whole batch, and the members of
// StepControl.
inline constexpr int64_t kControlSize = 6;
std::vector<float> ControlVector(const OptimizerSpec& spec, double learning_rate, int64_t step,
                                 int64_t groups);

// The parameters' values in the model, as one flat vector; and back.
std::vector<float> FlatParameters(const onnx::ModelProto& model, const std::vector<ParameterSlot>& slots);
void SetParameters(onnx::ModelProto& model, const std::vector<ParameterSlot>& slots,
                   const std::vector<float>& values);

}  // namespace ort_ed
