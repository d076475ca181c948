#pragma once

#include "ort_ed/options.h"
#include "ort_ed/sampler.h"

namespace ort_ed {

// Which coordinates a Gibbs sampler updates in a step, and in which order.
struct ScanOptions {
  Scan scan = Scan::kSystematic;
  int64_t updates = 0;

  static void Describe(Declare<ScanOptions>& declare) {
    declare("scan", &ScanOptions::scan, {{"systematic", Scan::kSystematic}, {"random", Scan::kRandom}},
            "order of updates: systematic or random");
    declare("updates", &ScanOptions::updates, "[0, inf)",
            "coordinates or blocks updated in one step; 0: all of them once");
  }
};

}  // namespace ort_ed
