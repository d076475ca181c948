#pragma once

#include <memory>
#include <vector>

#include "trainer/negatives/perturbation.h"

namespace ort_ed {

// Every row uses one of the perturbations, drawn with equal probabilities, for its y and for all of its
// negatives. That is one perturbation whose y also tells which it came from, so its energy discrepancy is the
// average of theirs, and it connects the states that any of them connects.
//
// Where some enumerate and others sample, all rows have as many negatives as the longest needs, sampled rows
// make use of them, and weights turn off what an enumeration does not need: w, and rows left over.
//
// One alone is returned as it is.
std::unique_ptr<Perturbation> MakeMixture(std::vector<std::unique_ptr<Perturbation>> components);

}  // namespace ort_ed
