#pragma once

#include <cstdint>

// Sixteen rows side by side, one a lane: what a network computes for a block of rows. A lane's result does
// not depend on the others'.

namespace ort_ed {

inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kDots = 4;

struct alignas(64) Lanes {
  float lane[kLanes];
};

struct LaneKernels {
  // sum += sum_k weights[k] values[k]
  void (*dot)(const float* weights, const Lanes* values, int64_t count, Lanes& sum);
  // The same for kDots rows of weights, which lie `stride` apart: values are read once for all.
  void (*dots)(const float* weights, int64_t stride, const Lanes* values, int64_t count, Lanes* sums);
  // values[k] += weights[k] source
  void (*spread)(const float* weights, const Lanes& source, int64_t count, Lanes* values);
  // 1 / (1 + exp(-x))
  void (*sigmoid)(const Lanes& x, Lanes& result);
};

// Those for this processor.
const LaneKernels& BestLaneKernels();

extern const LaneKernels kPortableLaneKernels;
#if defined(__x86_64__)
extern const LaneKernels kAvx2LaneKernels;
#endif

}  // namespace ort_ed
