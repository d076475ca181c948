#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <argparse/argparse.hpp>
#include <nlohmann/json.hpp>

#include "ort_ed/sampler.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {

// Samples of a model against rows of data.
struct SampleComparison {
  struct Interval {
    double low = 0;
    double high = 0;
  };
  int64_t samples = 0;  // of one set
  int64_t sets = 0;
  double hamming = 0;  // squared MMD, the mean over the sets
  double linear = 0;
  std::optional<Interval> null;  // where `hamming` lies in 95 % of cases if model and data are the same
  std::vector<double> energies;  // of the samples of the first set
};

// --samples, --sample-sets, --steps, --thin and --mmd-null.
void AddComparisonArguments(argparse::ArgumentParser& parser);

// Throws UsageError for arguments that CompareSamples() cannot do with: to be asked before hours of work.
void CheckComparison(const argparse::ArgumentParser& arguments, const RowTable& data);

// Empty if no samples are asked for. The sampler's own arguments must have been added, too.
std::optional<SampleComparison> CompareSamples(const argparse::ArgumentParser& arguments,
                                               const EnergyPath& target, const RowTable& data);

nlohmann::ordered_json ToJson(const SampleComparison& comparison);

}  // namespace ort_ed
