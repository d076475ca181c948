#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/device.h"
#include "ort_ed/options.h"
#include "runtime/support/collective.h"
#include "trainer/learner/dropout.h"
#include "trainer/optimizer/optimizer_options.h"

namespace ort_ed {

// Of the batches that a learner takes.
struct BatchShape {
  int64_t negatives = 32;  // M, of each positive
  bool weighted = false;   // whether batches carry log omega
};

// By what models are compared on held-out rows, where that is not what a training minimises.
struct ValidationOptions {
  Choice objective = "energy-discrepancy";
  BatchShape batch = {};
};

// What a learner minimises, how, and where. Front ends declare these as parts of their own.
struct LearnerOptions {
  Choice objective = "energy-discrepancy";
  std::optional<ValidationOptions> validation = {};  // none: `objective`, on batches as a step's
  PenaltyOptions penalties = {};
  OptimizerOptions optimizer = {};
  std::vector<std::string> frozen = {};        // patterns of parameters that are not trained
  std::vector<std::string> freeze_zeros = {};  // patterns of parameters whose zeros at the start stay zeros
  // What FindRoles() says of a user's model; without the first, only BatchNormalization has buffers.
  std::optional<std::vector<std::string>> buffers = {};
  std::vector<std::string> masked = {};  // as freeze_zeros, by name
  DropoutOptions dropout = {};
  std::string tensor = {};  // of the network, which Learner::CurrentTensor() computes

  Device device = {};
  int threads = 0;          // 0: all cores
  int64_t micro_batch = 0;  // groups evaluated at once; 0: the whole batch
  // Parts of a step whose gradients are computed by themselves and summed in a tree (TreeSum). The processes
  // share them, at most one each; results depend on how many parts there are, not on the processes.
  int64_t shards = 1;
  Collective* processes = nullptr;  // null: this one alone
  bool cpu_kernels = true;          // our own kernels (trainer/kernels) where the device is the CPU

  bool keeps_zeros() const { return !freeze_zeros.empty() || !masked.empty(); }
  bool has_cpu_kernels() const { return cpu_kernels && device.provider == "cpu"; }
};

// The state vector that no step changes: 0 for entries that LearnerOptions keeps at zero, else 1.
inline constexpr char kZeroMaskKind[] = "support";

// Which of `names` any of the patterns selects. Throws OptionError of `key`, listing the names, for a pattern
// that selects none.
std::vector<bool> Select(const std::vector<std::string>& names, const std::vector<std::string>& patterns,
                         const std::string& key);

}  // namespace ort_ed
