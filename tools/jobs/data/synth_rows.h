#pragma once

#include <cstdint>
#include <string>

#include "tools/jobs/data/dataset.h"

namespace ort_ed {

// Synthetic data to train on that needs a sampler (TrainHooks::synth): "ising", or with options
// "ising:shape=10x10,sigma=0.2,rows=2000,steps=1000000". Throws kInvalidArgument that lists what there is.
RowStore DrawSynthRows(const std::string& name, uint64_t seed);

// Throws kInvalidArgument for the name of an option or of a data set, planar ones included, that is not
// known.
void CheckSynthNames(const std::string& name);

}  // namespace ort_ed
