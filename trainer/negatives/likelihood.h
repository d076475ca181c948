#pragma once

#include "ort_ed/options.h"

namespace ort_ed {

// Of `method likelihood`.
struct LikelihoodOptions {
  double dropout = 0;
  double view_dropout = 0;

  static void Describe(Declare<LikelihoodOptions>& declare);
};

}  // namespace ort_ed
