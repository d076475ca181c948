#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ort_ed/options.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "trainer/check/model_check.h"

namespace ort_ed {

// On what gradients are compared, and of which parameters.
struct GradientCheckOptions {
  int64_t rows = ModelCheckOptions().rows;
  uint64_t seed = ModelCheckOptions().seed;
  std::vector<std::string> frozen = {};
  std::vector<std::string> trainable = {};

  static void Describe(Declare<GradientCheckOptions>& declare) {
    using O = GradientCheckOptions;
    declare("rows", &O::rows, "[1, inf)", "random binary rows on which gradients are compared");
    declare("seed", &O::seed, "[0, inf)", "of the random rows and directions");
    declare("frozen", &O::frozen, "PATTERN,...", "patterns of parameters that are not trained");
    declare("trainable", &O::trainable, "PATTERN,...",
            "patterns of initialisers that are trained though they look like constants");
  }
};

struct CheckResult : JobResult {
  ModelCheck check;
};

// Whether the model keeps the energy model contract and can be trained (see CheckModel()). Throws kBadModel
// where nothing more can be said of it, and kInterrupted.
CheckResult Check(const LoadedModel& model, const GradientCheckOptions& options, Observer& observer);

// Why gradient-guided samplers are lost with such a model, and what to do; of one spot or more.
std::string AdviceOnBlindSpots(const std::vector<BlindSpot>& spots);

}  // namespace ort_ed
