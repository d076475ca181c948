#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/sample/sample_comparison.h"

namespace ort_ed {

struct EvaluateOptions {
  Choice estimator = "auto";
  int64_t raise_rows = 100;
  int64_t raise_chains = 5;
  std::string density = "";
  ComparisonOptions comparison = {};
  uint64_t seed = 0;
  int threads = 0;

  static void Describe(Declare<EvaluateOptions>& declare);
};

struct MeanValue {
  double value = 0;
  double standard_error = 0;  // not a number where one value does not tell
};

struct EvaluateResult : JobResult {
  int64_t rows = 0;
  int64_t dimension = 0;  // bits of a row
  int64_t variables = 0;
  std::vector<float> data_energies;
  MeanValue energy;                     // of the data
  LogZEstimate log_z;                   // the value the likelihood is computed with
  std::optional<LogZEstimate> reverse;  // from where other forward chains ended; the two err in opposite
                                        // directions on average, unless all miss the same modes
  std::optional<MeanValue> raise_nll;   // RAISE from rows of the data: of what the annealing generates
  std::optional<MeanValue> base_nll;    // exact: of the learned base by itself
  std::optional<double> entropy;        // of the true density
  std::optional<SampleComparison> samples;

  // Of a row of the data on average, in nats.
  double Nll() const { return energy.value + log_z.log_z; }
  // Not finite where it is not known: of one row, or of one chain.
  double NllError() const;
  double BitsPerDimension() const;  // of a variable
};

// How likely the data is under the model, and how the model's samples compare with it. Stopped early, the
// result has no figures that can be trusted but the energies of the data.
EvaluateResult Evaluate(const LoadedModel& model, const RowTable& data, const EvaluateOptions& options,
                        Observer& observer);

}  // namespace ort_ed
