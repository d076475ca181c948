#pragma once

#include <cstdint>
#include <string>

#include "ort_ed/log_z.h"
#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

struct LogZOptions {
  Choice estimator = "auto";
  uint64_t seed = 0;
  int threads = 0;

  static void Describe(Declare<LogZOptions>& declare);
};

struct LogZResult : JobResult {
  LogZEstimate estimate;
  std::string state_file;  // to be removed when the result is safe; empty: there is none
};

// `data`, which may be null: where raise starts. `state_file` (empty: none) keeps the state of an annealing;
// the same call continues from it. Throws kBadData where the file is something else, kInterrupted.
LogZResult EstimateLogZ(const LoadedModel& model, const LogZOptions& options, const RowTable* data,
                        const std::string& state_file, Observer& observer);

// Writes the estimate into the metadata of the model's file. Throws kInvalidArgument if it is not reliable,
// or the file has changed.
void WriteLogZ(const LoadedModel& model, const LogZEstimate& estimate);

}  // namespace ort_ed
