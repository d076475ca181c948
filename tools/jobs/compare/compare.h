#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/compare/model_source.h"
#include "tools/jobs/evaluate.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

struct CompareOptions {
  Choice estimator = "known";
  uint64_t seed = 0;
  int threads = 0;

  static void Describe(Declare<CompareOptions>& declare);
};

// One of the models that are compared.
struct ComparedModel {
  std::string name;
  std::string file;
  MeanValue log_likelihood;  // of a row, with the error of the test set and of log Z
  LogZEstimate log_z;
  // Against the first model, row by row, so that what all models find hard does not count. For the first
  // itself 0.
  MeanValue difference;
  double rows_error = 0;   // the part of its error that is due to the number of rows
  double log_z_error = 0;  // and the part that is due to both values of log Z
  std::vector<double> row_differences;
  int64_t parameters = 0;
  TrainingCost cost;
};

// A setting that is not the same in all models; empty where one has it not.
struct DifferentSetting {
  std::string key;
  std::vector<std::string> values;  // one for each model
};

struct CompareResult : JobResult {
  int64_t rows = 0;
  std::vector<ComparedModel> models;
  std::vector<DifferentSetting> settings;
};

// How likely the rows are under each model, and whether that differs. Throws kBadData where models and rows
// do not have the same variables, OptionError, kInterrupted.
CompareResult Compare(const std::vector<ModelSource>& sources, const RowTable& data,
                      const CompareOptions& options, Observer& observer);

}  // namespace ort_ed
