#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

struct ExplainOptions {
  int64_t top = 5;
  int threads = 0;

  static void Describe(Declare<ExplainOptions>& declare);
};

// How much the value of one variable surprises the model, which knows all the others.
struct Surprise {
  int64_t variable = 0;
  int64_t value = 0;           // its state
  double log_probability = 0;  // of the value given the others
  int64_t expected = 0;        // the most probable value
  double expected_probability = 0;
};

struct RowExplanation {
  int64_t row = 0;  // from 0
  double energy = 0;
  double log_pseudo_likelihood = 0;      // the sum of log_probabilities
  std::vector<int64_t> values;           // the state of every variable
  std::vector<float> log_probabilities;  // of every variable's value given the others
  std::vector<Surprise> top;             // the most surprising first
};

struct ExplainResult : JobResult {
  int64_t rows = 0;
  std::vector<double> mean_log_probabilities;  // of every variable, over the rows
  bool quadratic = false;                      // the energy is, and the work was done on its couplings
};

// Called for one row after the other.
using ExplanationSink = std::function<void(const RowExplanation&)>;

// Explains every row in memory that does not grow with their number: exactly, from the energies of all states
// that differ from a row in one variable. Throws kBadData where there are no rows, kInterrupted.
ExplainResult Explain(const LoadedModel& model, RowReader& rows, const ExplainOptions& options,
                      const ExplanationSink& sink, Observer& observer);

}  // namespace ort_ed
