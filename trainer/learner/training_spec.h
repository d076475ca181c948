#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ort_ed {

// mean_i log(w omega_i + sum_j omega_ij exp(U(x_i) - U(x_ij))) - log M, where omega = 1 without weights.
//
// Choosing w. With w = 1 the loss is that of picking the positive x_i out of the 1 + M candidates x_i, x_ij:
// for sampled negatives its minimiser is the data distribution whatever M is, where other w only get there as
// M grows. An exact enumeration has the positive among its negatives already, and w = 0 is right.
struct LossSpec {
  double stabilisation = 1;  // w; 0 is allowed
  int64_t negatives = 32;    // M, as Perturbation::NegativesPerRow() says
  bool weighted = false;     // whether batches carry log omega
};

enum class OptimizerKind { kAdam, kAdamW, kSgd };

// kProximal: soft thresholding after the step, which makes exact zeros. kSubgradient: l1 * sign(theta) in the
// gradient. Both have the stationary points of loss + l1 * sum |theta|.
enum class L1Form { kProximal, kSubgradient };

// Patterns select parameters by name, with * and ? as in file names.
struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kAdam;
  double beta1 = 0.9;     // Adam, AdamW
  double beta2 = 0.999;   // Adam, AdamW
  double epsilon = 1e-8;  // Adam, AdamW
  double momentum = 0.9;  // SGD
  double weight_decay =
      0;  // AdamW: theta shrinks by learning rate * weight_decay; others: l2 in the gradient
  std::vector<std::string> weight_decay_parameters = {"*"};
  double l1 = 0;
  L1Form l1_form = L1Form::kProximal;
  std::vector<std::string> l1_parameters = {"*"};
  double clip_norm = 0;  // largest norm of the whole gradient; 0: no limit
  // Moving average of the parameters, min(ema_decay, (1 + t) / (10 + t)) of it kept at step t; 0: none.
  double ema_decay = 0;
};

struct TrainingSpec {
  LossSpec loss;
  OptimizerSpec optimizer;
  std::vector<std::string> frozen;  // patterns of parameters that are not trained
  // Patterns of parameters whose entries stay zero where they are zero at the beginning.
  std::vector<std::string> fixed_zeros = {};
};

// Throws kInvalidArgument for a value out of range, naming it.
void Validate(const TrainingSpec& spec);

// The state vectors that an optimiser changes: "parameters", then "first_moment", "second_moment" or
// "velocity", then "average" if there is a moving average.
std::vector<std::string> StateNames(const OptimizerSpec& spec);

// The state vector that no step changes: 0 for entries that TrainingSpec::fixed_zeros keeps at zero, else 1.
inline constexpr char kSupportKind[] = "support";

// Which of `names` any of the patterns selects. Throws kInvalidArgument, listing the names, for a pattern
// that selects none; `what` says what the patterns are for.
std::vector<bool> Select(const std::vector<std::string>& names, const std::vector<std::string>& patterns,
                         const std::string& what);

}  // namespace ort_ed
