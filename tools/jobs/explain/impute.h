#pragma once

#include <cstdint>

#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/row_writer.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

struct ImputeOptions {
  int64_t chains = 20;
  int64_t steps = 100;
  Choice sampler = "gibbs";
  uint64_t seed = 0;
  int threads = 0;

  static void Describe(Declare<ImputeOptions>& declare);
};

struct ImputeResult : JobResult {
  int64_t rows = 0;
  int64_t missing = 0;              // cells
  double mean_standard_error = 0;   // of the probabilities of missing cells, from how far the chains differ
  double worst_standard_error = 0;  // of all of them
};

// What missing cells (kMissingValue in `rows`) may be: `output` takes for each row the values that are given
// and, where one is missing, the probability that it is 1 given those: of a variable with several bits the
// probabilities of its states. Each row has chains of its own over its missing variables; at ten times in the
// second half of their steps the probability of every missing variable given all others is computed, and the
// mean taken. With one missing variable that is exact. Memory does not grow with the number of rows. Throws
// kBadData where nothing is missing, kInterrupted.
ImputeResult Impute(const LoadedModel& model, RowReader& rows, const ImputeOptions& options,
                    RowWriter<float>& output, Observer& observer);

}  // namespace ort_ed
