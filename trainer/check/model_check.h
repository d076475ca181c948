#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "trainer/autodiff/blind_spots.h"
#include "trainer/learner/parameter_choice.h"

namespace ort_ed {

struct ModelCheckOptions {
  int64_t rows = 4;  // random binary inputs
  uint64_t seed = 0;
  int directions = 2;                       // random directions a tensor
  std::vector<std::string> frozen = {};     // patterns of parameters that are not trained
  std::vector<std::string> trainable = {};  // patterns of what is trained whatever it looks like
  // Called after each tensor whose gradient was compared, of so many; may throw to stop.
  std::function<void(int64_t done, int64_t total)> on_progress = {};
};

// A node that a gradient would have to pass and cannot.
struct MissingRule {
  std::string node;
  std::string op;  // with its domain if it is not a standard operator
};

enum class GradientVerdict {
  kAgrees,
  kDiffers,
  kUncertain,  // rounding or kinks make the difference quotient itself unreliable
};

// The gradient of sum_i c_i * U(x_i) against central differences along random directions.
struct GradientComparison {
  std::string tensor;
  int64_t size = 0;
  bool influences = true;     // false: the energy does not depend on it
  double relative_error = 0;  // largest over the directions, relative to the norm of the gradient or, where
                              // that is larger, to what rounding leaves of a gradient of zero
  double tolerance = 0;       // what rounding of the difference quotient allows
  GradientVerdict verdict = GradientVerdict::kAgrees;
};

struct ModelCheck {
  std::string input, output;
  int64_t dimension = 0;
  int64_t opset = 0;
  ParameterRoles roles;                          // what is not trained, or not freely
  std::vector<MissingRule> missing_rules;        // on the way to a parameter
  std::vector<MissingRule> missing_input_rules;  // on the way to the input only
  std::vector<BlindSpot> blind_spots;            // where the input gradient does not see the energy
  std::vector<GradientComparison> gradients;     // of the input and of each parameter
  bool in_double = false;                        // differences were taken in double precision
  std::vector<std::string> problems;             // everything else that is wrong, as sentences
  std::vector<std::string> input_problems;       // what is wrong with the input gradient only
  std::vector<std::string> remarks;              // what is unusual but allowed

  bool trainable() const;
  // Whether gradient-guided samplers can be used. Training does without.
  bool has_input_gradient() const;
  // Trainable, and no gradient is wrong. An input gradient that does not exist does not count.
  bool passed() const;
};

// Everything that training and gradient-guided sampling ask of an energy model: the contract, finite energies
// that do not depend on the other rows of a batch, parameters to train, a rule for each operator on the way,
// and gradients that agree with central differences: on random binary rows or, for tensors where these lie on
// a kink of the energy, near them. Throws kBadModel where the contract is broken so badly that nothing more
// can be said; `name` stands for the file in messages.
ModelCheck CheckModel(const onnx::ModelProto& model, const std::string& name,
                      const ModelCheckOptions& options = {});

}  // namespace ort_ed
