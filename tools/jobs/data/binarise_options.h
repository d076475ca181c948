#pragma once

#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {

// How a job reads rows whose values are not all 0 or 1.
struct BinariseOptions {
  Binarise binarise = Binarise::kStrict;
  float threshold = 0.5f;

  static void Describe(Declare<BinariseOptions>& declare) {
    declare(
        "binarise", &BinariseOptions::binarise,
        {{"strict", Binarise::kStrict}, {"threshold", Binarise::kThreshold}, {"once", Binarise::kStochastic}},
        "what to do with grey values: strict refuses them, threshold cuts them, once draws a bit for each")
        .Alias("stochastic", Binarise::kStochastic);
    declare("threshold", &BinariseOptions::threshold, "[0, 1]", "values at or above it become 1")
        .When("binarise", "threshold");
  }

  // `seed`: of the bits that are drawn. `columns`: the width that rows must have; 0: any.
  RowOptions ForRows(uint64_t seed, int64_t columns) const {
    return {.binarise = binarise, .threshold = threshold, .seed = seed, .columns = columns};
  }
};

}  // namespace ort_ed
