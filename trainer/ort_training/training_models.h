#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/graph/prepare_model.h"
#include "trainer/learner/learner_options.h"
#include "trainer/learner/step_graph.h"

namespace ort_ed {

// Names in the models for ONNX Runtime's on-device training, beside that of the energy model's input, which
// takes the rows of data.
namespace training_tensor {
inline constexpr char kNegatives[] = "ort_ed.negatives";     // float [rows, M, D]; absent where M is 0
inline constexpr char kLogWeights[] = "ort_ed.log_weights";  // float [rows, 1 + M], only if weighted
inline constexpr char kLoss[] = "ort_ed.loss";               // float []
inline constexpr char kEnergies[] = "ort_ed.energies";       // float [2]: means of rows and of negatives
}  // namespace training_tensor

// What ONNX Runtime's on-device training takes a step with: the loss of rows and negatives with its gradient,
// which is added to buffers that the runtime keeps; the loss alone, and the energy of each row, which
// can be cut out as a model for inference; and the optimiser.
struct TrainingModels {
  onnx::ModelProto training, evaluation, optimizer;
  std::vector<ParameterSlot> parameters;
};

// By parameter, the state vector kZeroMaskKind where there is one.
using SupportsByName = std::map<std::string, std::span<const float>>;

// Throws kInvalidArgument for what ONNX Runtime's training does not have, kBadModel where the network cannot
// be differentiated.
TrainingModels MakeTrainingModels(const PreparedModel& network, const LearnerOptions& options,
                                  const BatchShape& batch, const SupportsByName& supports);

}  // namespace ort_ed
