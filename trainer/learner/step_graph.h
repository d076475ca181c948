#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/graph/prepare_model.h"
#include "trainer/learner/learner_options.h"

namespace ort_ed {

// One trained tensor: where it lies in the flat vectors of the training state.
struct ParameterSlot {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0;
  int64_t size = 0;
};

std::vector<std::string> ListNames(const std::vector<ParameterSlot>& slots);

// Names of the graphs' inputs and outputs. Parameters are called as in the energy model, their gradients
// GradientName(parameter), state vectors StateTensorName(kind) for the kinds of StateNames(); an output that
// takes the place of an input is called Next(input), and may share its memory unless the graph is kStep. On
// devices whose memory has no addresses (runtime/session.h), where a part of a vector is no tensor, all
// parameters are the one vector StateTensorName("parameters"), all gradients the one kGradient, and no output
// shares an input's memory.
//   rows         uint8 [groups * (1 + M), D]: groups of one positive and its M negatives
//   log_weights  float [groups, 1 + M]: log omega, only if BatchShape::weighted
//   dropout      float [rows, units] for each layer of LearnerOptions::dropout, in the graphs with gradients
//   control      float [kControlSize]: what changes from step to step, see ControlVector()
//   state        float [P] each
//   support      float [P]: see kZeroMaskKind; only if LearnerOptions::keeps_zeros()
//   gradient     float [P]: all gradients as one vector
//   weight_decay, l1  float [P]: strengths of the penalties, only where they differ (PenaltyVector())
//   losses       float [3]: loss, mean energy of the positives, mean energy of the negatives
//   report       float [5]: losses, norm of the gradient before clipping, norm of the new parameters
//   states       float [rows, D]: what a sampler asks about
//   energies     float [rows], and slopes, float [rows, D]: dU/dx
//   tensor       float [rows, any]: LearnerOptions::tensor
//   squares      float [1]: sum of the squares of the gradient before clipping, or of the new parameters
//   clip         float [1]: what the gradient is multiplied by
namespace step_tensor {
inline constexpr char kRows[] = "ort_ed.rows";
inline constexpr char kLogWeights[] = "ort_ed.log_weights";
inline constexpr char kControl[] = "ort_ed.control";
inline constexpr char kGradient[] = "ort_ed.gradient";
inline constexpr char kStates[] = "ort_ed.states";
inline constexpr char kEnergies[] = "ort_ed.energies";
inline constexpr char kSlopes[] = "ort_ed.slopes";
inline constexpr char kTensor[] = "ort_ed.tensor";
inline constexpr char kLosses[] = "ort_ed.losses";
inline constexpr char kReport[] = "ort_ed.report";
inline constexpr char kSquares[] = "ort_ed.squares";
inline constexpr char kClip[] = "ort_ed.clip";
inline constexpr char kWeightDecay[] = "ort_ed.weight_decay";
inline constexpr char kL1[] = "ort_ed.l1";
inline std::string DropoutName(const std::string& tensor) { return "ort_ed.dropout/" + tensor; }
inline std::string GradientName(const std::string& parameter) { return "ort_ed.gradient/" + parameter; }
inline std::string StateTensorName(const std::string& kind) { return "ort_ed." + kind; }
inline std::string Next(const std::string& input) { return input + ".next"; }
}  // namespace step_tensor

// The graphs one can make of an energy model; all of standard ONNX operators.
enum class StepGraphKind {
  kStep,        // rows, log_weights, control, parameters, state, support -> next state, report
  kGradient,    // rows, log_weights, control, parameters -> gradients, losses
  kAccumulate,  // rows, log_weights, control, parameters, gradients, losses -> next gradients, next losses
  kEvaluate,    // rows, log_weights, control, parameters -> losses
  kValidate,    // the same with LearnerOptions::validation
  kEnergy,      // states, parameters -> energies
  kEnergyGradient,  // states, parameters -> energies, slopes; a differentiation of its own
  kTensor,          // states, parameters -> tensor
  // On corresponding pieces, of any length, of the flat vectors:
  kNorm,   // gradient, state, support, l1 -> squares
  kApply,  // gradient, control, clip, state, support, weight_decay, l1 -> next state, squares
};

// The graphs of the training of one network, which is differentiated once. Everything of a step (energies,
// loss, weights c, gradients, clipping, optimiser, moving average) becomes nodes of one model, or of three
// where that would take too much memory. The optimiser works on one flat vector of all parameters, so that it
// costs the same for many small tensors as for one large one.
class StepGraphs {
 public:
  // Throws kBadModel where the model cannot be differentiated, OptionError for a pattern that selects
  // nothing, and kInvalidArgument if nothing is left to train.
  StepGraphs(const PreparedModel& network, const LearnerOptions& options, const BatchShape& batch);
  ~StepGraphs();
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  // What is trained: those of ParameterNames() that influence the energy, in the order of the flat vectors.
  const std::vector<ParameterSlot>& slots() const;

  // The graphs with gradients of parameters (kStep, kGradient, kAccumulate) share the one differentiation:
  // only one of them can be made. The values of the parameters are not needed. Throws kBadModel where the
  // model cannot be differentiated by its input.
  onnx::ModelProto Make(StepGraphKind kind);

 private:
  class Assembly;
  PreparedModel network_;
  LearnerOptions options_;
  BatchShape batch_;
  LearnerOptions validation_;  // the same with the objective of validations
  std::vector<ParameterSlot> slots_;
  std::unique_ptr<Assembly> differentiated_;
};

// What a training of a model that is prepared would train where nothing more is said: no buffers.
std::vector<ParameterSlot> TrainedParameters(const PreparedModel& network,
                                             const std::vector<std::string>& frozen);

int64_t TotalSize(const std::vector<ParameterSlot>& slots);

// The strength of a penalty on each parameter; empty if it is the same on all. Throws OptionError of `key`
// for a pattern that selects nothing.
std::vector<float> PenaltyVector(double strength, const std::vector<std::string>& patterns,
                                 const std::string& key, const std::vector<ParameterSlot>& slots);

// The state vector kZeroMaskKind for a training that starts from `parameters`. Throws OptionError for a
// pattern that selects nothing.
std::vector<float> ZeroMask(const std::vector<float>& parameters, const std::vector<ParameterSlot>& slots,
                            const LearnerOptions& options);

// The values of `control` for one step: 1 / number of groups of the whole batch, and the members of
// StepControl.
inline constexpr int64_t kControlSize = 6;
std::vector<float> ControlVector(const OptimizerOptions& options, double learning_rate, int64_t step,
                                 int64_t groups);

// The parameters' values in the model, as one flat vector; and back.
std::vector<float> FlatParameters(const onnx::ModelProto& model, const std::vector<ParameterSlot>& slots);
void SetParameters(onnx::ModelProto& model, const std::vector<ParameterSlot>& slots,
                   const std::vector<float>& values);

// The memory of one parameter's values in the model, to be written to.
std::span<float> MutableParameter(onnx::ModelProto& model, const ParameterSlot& slot);

// Frees the memory of their values.
void ClearParameters(onnx::ModelProto& model, const std::vector<ParameterSlot>& slots);

}  // namespace ort_ed
