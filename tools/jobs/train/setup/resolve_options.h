#pragma once

#include "tools/jobs/train/train_options.h"

namespace ort_ed {

// What options alone decide: absolute paths, the real device, and method, objective and base where they say
// enough. Throws OptionError for options that do not go together.
TrainOptions ResolveOptions(TrainOptions options);

// The same of objective and base, once the data has decided the method.
void ResolveByMethod(TrainOptions& options);

}  // namespace ort_ed
