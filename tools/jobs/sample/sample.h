#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/diagnostics.h"
#include "ort_ed/options.h"
#include "ort_ed/sampler.h"
#include "runtime/data/row_writer.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/sample/agreement.h"
#include "tools/jobs/sample/sample_start.h"

namespace ort_ed {

// The samplers, and what stands in their place: `exact` and `auto`.
KindTable SampleTable();

struct SampleOptions {
  static constexpr int64_t kSteps = 1000;

  std::optional<int64_t> samples = {};
  std::optional<int64_t> steps = {};
  std::optional<int64_t> chains = {};
  std::optional<int64_t> burn_in = {};
  std::optional<int64_t> thin = {};
  double beta = 1;
  uint64_t seed = 0;
  // Of the samplers' table, or `exact`: independent draws, by enumeration; or `auto`: that where there are
  // few states and nothing is said about chains, else refill where the base is learned and nothing is kept,
  // else gibbs.
  Choice sampler = "auto";
  std::string policy = {};  // a file, in place of the sampler
  std::optional<int64_t> policy_variables = {}, policy_copies = {};
  int threads = 0;

  static void Describe(Declare<SampleOptions>& declare);
};

// Which states of the chains are the samples: after step first(), then every `thin` steps up to `steps`.
struct SampleSchedule {
  int64_t samples = 0;
  int64_t chains = 0;
  int64_t steps = 0;
  int64_t burn_in = 0;
  int64_t draws = 0;  // of each chain
  int64_t thin = 0;

  int64_t first() const { return steps - (draws - 1) * thin; }
  bool IsDraw(int64_t step) const { return step >= first() && (step - first()) % thin == 0; }
};

// What is not given follows from the rest. Throws OptionError where the steps do not suffice, and where a row
// whose values are kept would have no chain.
SampleSchedule MakeSchedule(const SampleOptions& options, const SampleStart& start);

// Where samples and energies go as they come; the caller commits what was written.
struct SampleSinks {
  RowWriter<uint8_t>* samples = nullptr;  // null: the result holds them
  RowWriter<float>* trace = nullptr;      // energies of all chains after every step; null: nowhere
};

struct SampleResult : JobResult {
  static constexpr int64_t kFirstSamples = 100;

  std::string sampler;  // that drew: "gibbs", "exact", "policy"
  SampleSchedule schedule;
  int64_t samples = 0;                 // drawn: fewer than planned where the observer asked to stop
  std::vector<uint8_t> rows;           // all of them, where there is no sink for them
  std::vector<uint8_t> first_samples;  // up to kFirstSamples, for a picture
  bool quadratic = false;              // the energy is, and was sampled as such
  // After burn-in. R-hat is not a number where chains need not agree; of exact draws nothing is but what they
  // cost.
  Diagnostics diagnostics;
  ChainAgreement agreement;
};

// Draws samples of the model. Stopped early the result has what was drawn until then.
SampleResult Sample(const LoadedModel& model, const SampleStart& start, const SampleOptions& options,
                    const SampleSinks& sinks, Observer& observer);

}  // namespace ort_ed
