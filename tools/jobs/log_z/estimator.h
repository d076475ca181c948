#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/log_z.h"
#include "ort_ed/options.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/sample/chains.h"

namespace ort_ed {

// Where a path to the model begins.
enum class PathBase { kModel, kUniform };

// The option `base` of every struct that has one.
template <typename Options>
DeclaredOption DescribeBase(Declare<Options>& declare, PathBase Options::*member) {
  return declare(
      "base", member, {{"model", PathBase::kModel}, {"uniform", PathBase::kUniform}},
      "where the path begins: model (the base distribution in its metadata, else uniform) or uniform");
}

EnergyPath PathFrom(PathBase base, ModelEnergy& energy);

// What an estimate is made of, besides the estimator's own options.
struct LogZRequest {
  const LoadedModel& model;
  ModelEnergy& energy;
  uint64_t seed = 0;
  int threads = 0;
  // raise starts from rows of it, drawn by the seed; null: from the ends of forward chains of its own.
  const RowTable* data = nullptr;
  std::string state_file = "";  // of a long annealing; empty: none

  // For likelihoods of test data: ais then goes back, too, from the ends of other forward chains and from
  // `test_rows`, each `test_chains` times.
  bool both_sides = false;
  std::vector<float> test_rows = {};
  int64_t test_chains = 1;
};

struct LogZOutcome {
  LogZEstimate estimate;
  std::optional<LogZEstimate> reverse = {};   // from where other forward chains ended
  std::vector<double> test_log_weights = {};  // test_chains x test_rows
  bool has_state = false;                     // the state file was written
};

// One row of the table of estimators.
struct EstimatorKind {
  const char* name;
  const char* summary;
  const Schema& (*schema)();
  // `options` are checked.
  LogZOutcome (*estimate)(const LogZRequest& request, const OptionMap& options, Observer& observer);
  // The sampler that the options choose, null where there is none: it may need the model's gradient.
  Choice (*sampler)(const OptionMap& options) = nullptr;
};

std::span<const EstimatorKind* const> Estimators();

// What an option that chooses an estimator may hold.
KindTable EstimatorTable();

struct ChosenEstimator {
  const EstimatorKind& kind;
  OptionMap options;

  LogZOutcome Estimate(const LogZRequest& request, Observer& observer) const {
    return kind.estimate(request, options, observer);
  }
  // None, or the one that moves its chains.
  std::vector<Choice> Samplers() const {
    return kind.sampler == nullptr ? std::vector<Choice>() : std::vector{kind.sampler(options)};
  }
};
// Throws OptionError, of "estimator", for an unknown name or option.
ChosenEstimator FindEstimator(const Choice& estimator);

extern const EstimatorKind kAisEstimator;
extern const EstimatorKind kRaiseEstimator;
extern const EstimatorKind kExactEstimator;
extern const EstimatorKind kImportanceEstimator;
extern const EstimatorKind kPolicyEstimator;
extern const EstimatorKind kMetadataEstimator;
extern const EstimatorKind kAutoEstimator;
extern const EstimatorKind kKnownEstimator;

}  // namespace ort_ed
