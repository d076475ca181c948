#pragma once

#include <algorithm>
#include <cstdint>

#include "ort_ed/sampler.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {

// Advances the chains by `steps` steps in portions, so that a wish to stop is noticed within a moment:
// `watch` (see Watch()) hears after each of the steps done, and throws to stop. How steps are divided does
// not change them. `portion`, in steps, grows until it takes that moment; who calls often keeps it.
inline void AdvanceChains(Sampler& sampler, Chains& chains, int64_t steps, const WorkCallback& watch,
                          int64_t& portion) {
  constexpr double kMoment = 0.2;  // seconds
  for (int64_t done = 0; done < steps;) {
    const Stopwatch stopwatch;
    const int64_t now = std::min(portion, steps - done);
    sampler.Step(chains, now);
    done += now;
    if (now == portion && stopwatch.Seconds() < kMoment / 2) portion *= 2;
    watch(done, steps);
  }
}

inline void AdvanceChains(Sampler& sampler, Chains& chains, int64_t steps, const WorkCallback& watch) {
  int64_t portion = 1;
  AdvanceChains(sampler, chains, steps, watch, portion);
}

}  // namespace ort_ed
