#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ort_ed/options.h"
#include "ort_ed/sampler.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

struct ComparisonOptions {
  int64_t samples = 1000;
  int64_t sample_sets = 1;
  int64_t steps = 200;
  int64_t thin = 10;
  int64_t mmd_null = 0;
  Choice sampler = "gibbs";
  // What was said of it, by the same key. Where nothing was, draws of a learned base stand in for gibbs,
  // whose sweeps take an energy for every state of every variable.
  std::string asked_sampler = "";
  PathBase base = PathBase::kModel;

  static void Describe(Declare<ComparisonOptions>& declare);
};

// Samples of a model against rows of data.
struct SampleComparison {
  struct Interval {
    double low = 0;
    double high = 0;
  };
  int64_t samples = 0;  // of one set
  int64_t sets = 0;
  std::string sampler;  // that drew them
  double hamming = 0;   // squared MMD, the mean over the sets
  double linear = 0;
  std::optional<Interval> null;  // where `hamming` lies in 95 % of cases if model and data are the same
  std::vector<double> energies;  // of the samples of the first set
};

// Throws OptionError for what CompareSamples() cannot do: to be asked before hours of work.
void CheckComparison(const ComparisonOptions& options, const RowTable& data);

// Empty if no samples are asked for. `path` begins where the options say. Throws kInterrupted.
std::optional<SampleComparison> CompareSamples(const EnergyPath& path, const RowTable& data,
                                               const ComparisonOptions& options, uint64_t seed, int threads,
                                               Observer& observer);

}  // namespace ort_ed
