#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/compare/model_source.h"
#include "tools/jobs/evaluate.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/sample/agreement.h"

namespace ort_ed {

struct ReportOptions {
  bool likelihood = true;
  Choice estimator = "known";
  int64_t samples = 300;
  int64_t steps = 100;
  Choice sampler = "auto";
  uint64_t seed = 0;
  int threads = 0;

  static void Describe(Declare<ReportOptions>& declare);
};

// Rows of data as the report sees them.
struct ReportData {
  std::string name;
  RowTable rows;
  std::vector<std::string> names;  // of the bits
};

// The same quantity of the data and of the model's samples.
struct DataAndModel {
  double data = 0;
  double model = 0;
};

struct PairCorrelation {
  int64_t first = 0, second = 0;  // bits
  DataAndModel correlation;
};

// Units of the first layer, those with the largest weights first.
struct FirstLayer {
  std::string name;  // of the parameter
  int64_t units = 0;
  int64_t shown = 0;
  std::vector<double> weights;  // shown x dimension
};

struct ReportResult : JobResult {
  int64_t dimension = 0;  // bits of a row
  Variables variables;
  int64_t parameters = 0;

  std::optional<LogZEstimate> log_z;
  std::optional<MeanValue> log_likelihood;  // of a row of the data, with the error of rows and of log Z

  RowTable samples;
  ChainAgreement agreement;  // of the chains that drew them
  std::vector<double> data_energies, sample_energies, noise_energies;

  std::vector<DataAndModel> means;            // of all bits
  std::vector<PairCorrelation> correlations;  // of pairs of bits that vary in both
  std::vector<double> couplings;              // of a quadratic energy, dimension x dimension; else empty
  std::optional<FirstLayer> first_layer;      // where the couplings do not tell more

  std::vector<int64_t> most_likely, least_likely;  // rows of the data, the extreme ones first
};

// What can be told of a model, with data where it is given (null: without). Throws kBadData where the data
// has other variables, kInterrupted.
ReportResult MakeReport(const ModelSource& source, const ReportData* data, const ReportOptions& options,
                        Observer& observer);

}  // namespace ort_ed
