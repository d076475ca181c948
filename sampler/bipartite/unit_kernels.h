#pragma once

#include "sampler/base/lanes.h"

// What Gibbs sampling of an RBM does to its hidden units, for a block of chains side by side. A lane's result
// does not depend on the others'.

namespace ort_ed {

// What is known of a hidden unit: the sum of its inputs, and the probabilities that it is 1 and 0, each with
// its own precision.
struct Unit {
  Lanes input, on, off;
};

// A product of many factors that would leave the range of floats: mantissa * 2^exponent.
struct LaneProduct {
  Lanes mantissa;
  alignas(64) int32_t exponent[kLanes];
};

struct UnitKernels {
  // on and off of the unit's input.
  void (*probabilities)(Unit* units, int64_t count);
  // The product over units of (off + on * factor), which is (1 + exp(input + w)) / (1 + exp(input)) where the
  // factor is exp(w): factors[k], or where `down` is not 0 its inverse, inverses[k]. The mantissa has room
  // for `at_once` of them.
  void (*ratio)(const float* factors, const float* inverses, const Lanes& down, const Unit* units,
                int64_t count, int64_t at_once, LaneProduct& product);
  // Adds weights[k] * change to the inputs.
  void (*shift)(const float* weights, const Lanes& change, Unit* units, int64_t count);
};

// Those for this processor.
const UnitKernels& BestUnitKernels();

extern const UnitKernels kPortableUnitKernels;
#if defined(__x86_64__)
extern const UnitKernels kAvx2UnitKernels;
#endif

}  // namespace ort_ed
