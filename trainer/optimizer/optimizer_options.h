#pragma once

#include <string>
#include <vector>

#include "ort_ed/options.h"

namespace ort_ed {

enum class OptimizerKind { kAdam, kAdamW, kSgd };

struct OptimizerOptions {
  OptimizerKind optimizer = OptimizerKind::kAdam;
  double learning_rate = 2e-3;
  double clip = 5;
  // Moving average of the parameters, min(ema, (1 + t) / (10 + t)) of it kept at step t.
  double ema = 0.999;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double momentum = 0.9;

  static void Describe(Declare<OptimizerOptions>& declare) {
    using O = OptimizerOptions;
    declare("optimizer", &O::optimizer,
            {{"adam", OptimizerKind::kAdam}, {"adamw", OptimizerKind::kAdamW}, {"sgd", OptimizerKind::kSgd}},
            "how parameters follow their gradients");
    declare("learning_rate", &O::learning_rate, "(0, inf)", "size of a step");
    declare("clip", &O::clip, "[0, inf)", "largest norm of the gradient; 0: no limit");
    declare("ema", &O::ema, "[0, 1)", "decay of the moving average of the parameters; 0: none");
    declare("beta1", &O::beta1, "[0, 1)", "memory of Adam's first moment").When("optimizer", "adam|adamw");
    declare("beta2", &O::beta2, "[0, 1)", "memory of Adam's second moment").When("optimizer", "adam|adamw");
    declare("adam_epsilon", &O::adam_epsilon, "(0, inf)", "added to Adam's denominator")
        .When("optimizer", "adam|adamw");
    declare("momentum", &O::momentum, "[0, 1)", "part of the last step that is repeated")
        .When("optimizer", "sgd");
  }
};

// kProximal: soft thresholding after the step, which makes exact zeros. kSubgradient: l1 * sign(theta) in the
// gradient. Both have the stationary points of loss + l1 * sum |theta|.
enum class L1Form { kProximal, kSubgradient };

// Penalties on parameters. Patterns select them by name, with * and ? as in file names.
struct PenaltyOptions {
  double l1 = 0;
  L1Form l1_form = L1Form::kProximal;
  std::vector<std::string> l1_parameters = {"*"};
  double weight_decay = 0;
  std::vector<std::string> weight_decay_parameters = {"*"};

  static void Describe(Declare<PenaltyOptions>& declare) {
    using O = PenaltyOptions;
    declare("l1", &O::l1, "[0, inf)", "penalty l1 * sum |parameter|");
    declare("l1_form", &O::l1_form, {{"proximal", L1Form::kProximal}, {"subgradient", L1Form::kSubgradient}},
            "proximal makes zeros exact")
        .When("l1", "(0, inf)");
    declare("l1_parameters", &O::l1_parameters, "PATTERN,...",
            "patterns of the parameters with an l1 penalty")
        .When("l1", "(0, inf)");
    declare("weight_decay", &O::weight_decay, "[0, inf)", "decoupled for adamw, else in the gradient");
    declare("weight_decay_parameters", &O::weight_decay_parameters, "PATTERN,...",
            "patterns of the parameters that decay")
        .When("weight_decay", "(0, inf)");
  }
};

// The state vectors that an optimiser changes: "parameters", then "first_moment", "second_moment" or
// "velocity", then "average" if there is a moving average.
std::vector<std::string> StateNames(const OptimizerOptions& options);

}  // namespace ort_ed
