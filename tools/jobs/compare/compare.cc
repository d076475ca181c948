#include "tools/jobs/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

MeanValue ComputeMean(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n) : NAN};
}

std::string CountVariables(const Variables& variables) {
  if (variables.all_binary()) return fmt::format("{} variables", variables.size());
  return fmt::format("{} variables in {} bits", variables.size(), variables.dimension());
}

// The rows are those of the first model.
void RequireSameVariables(const std::vector<ModelSource>& sources, const RowTable& data) {
  const ModelSource& first = sources.front();
  const Variables& known = first.model.energy_model().variables();
  for (const ModelSource& source : sources) {
    const Variables& variables = source.model.energy_model().variables();
    if (variables.dimension() != data.columns)
      throw Error(ErrorCode::kBadData,
                  fmt::format("'{}' has {}, but the rows have {}; only models of the same variables can be "
                              "compared",
                              source.name, CountVariables(variables),
                              known.dimension() == data.columns
                                  ? fmt::format("those of '{}': {}", first.name, CountVariables(known))
                                  : fmt::format("{} columns", data.columns)));
    if (known.described() && variables.described() && known != variables)
      throw Error(
          ErrorCode::kBadData,
          fmt::format("'{}' and '{}' have as many bits, but their variables differ in names, states or "
                      "bins; only models of the same variables can be compared",
                      first.name, source.name));
  }
}

// log p of every row.
std::vector<double> LogLikelihoods(const EnergyModel& model, const RowTable& data, double log_z) {
  std::vector<float> energies(static_cast<size_t>(data.rows));
  model.Energy(data.values, energies);
  std::vector<double> values;
  for (const float energy : energies) values.push_back(-energy - log_z);
  return values;
}

LogZEstimate EstimateLogZ(const ModelSource& source, const ChosenEstimator& estimator,
                          const CompareOptions& options, Observer& observer) {
  ModelEnergy energy(source.model, ModelFor(source.model, estimator.Samplers()), options.threads, observer);
  return estimator
      .Estimate({.model = source.model, .energy = energy, .seed = options.seed, .threads = options.threads},
                observer)
      .estimate;
}

// Configurations where all are runs, since they tell everything; else what metadata tell of all of them.
std::vector<DifferentSetting> FindDifferences(const std::vector<ModelSource>& sources) {
  const bool all_runs = std::ranges::all_of(sources, &ModelSource::is_run);
  std::vector<std::map<std::string, std::string>> settings;
  std::set<std::string> keys;
  for (const ModelSource& source : sources) {
    settings.push_back(all_runs ? source.settings : SettingsOfModel(source.model.metadata()));
    for (const auto& [key, value] : settings.back()) keys.insert(key);
  }
  std::vector<DifferentSetting> differences;
  for (const std::string& key : keys) {
    DifferentSetting setting{.key = key, .values = {}};
    for (auto& one : settings) setting.values.push_back(one[key]);
    if (std::ranges::adjacent_find(setting.values, std::not_equal_to()) != setting.values.end())
      differences.push_back(std::move(setting));
  }
  return differences;
}

void WarnOf(const ComparedModel& model, CompareResult& result, Observer& observer) {
  if (!model.log_z.warning.empty())
    Warn(fmt::format("log Z of '{}': {}", model.name, model.log_z.warning), result, observer);
  const auto bad = std::ranges::count_if(model.row_differences, [](double d) { return !std::isfinite(d); });
  if (bad > 0)
    Warn(fmt::format("'{}': {} of {} rows have no finite likelihood", model.name, bad,
                     model.row_differences.size()),
         result, observer);
}

}  // namespace

void CompareOptions::Describe(Declare<CompareOptions>& declare) {
  using Self = CompareOptions;
  declare("estimator", &Self::estimator, EstimatorTable, "how log Z of each model is found");
  declare("seed", &Self::seed, "[0, inf)", "of chains and proposals");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

CompareResult Compare(const std::vector<ModelSource>& sources, const RowTable& data,
                      const CompareOptions& options, Observer& observer) {
  CheckOptions(options);
  const Stopwatch stopwatch;
  RequireSameVariables(sources, data);
  const ChosenEstimator estimator = FindEstimator(options.estimator);
  CompareResult result;
  result.rows = data.rows;
  std::vector<double> of_first;
  for (const ModelSource& source : sources) {
    observer.OnNotice(fmt::format("evaluating {}", source.file));
    ComparedModel model{.name = source.name,
                        .file = source.file,
                        .log_likelihood = {},
                        .log_z = EstimateLogZ(source, estimator, options, observer),
                        .difference = {},
                        .row_differences = {},
                        .parameters = CountParameters(source.model),
                        .cost = source.cost};
    const std::vector<double> values = LogLikelihoods(source.model.energy_model(), data, model.log_z.log_z);
    const MeanValue mean = ComputeMean(values);
    model.log_likelihood = {mean.value, std::hypot(mean.standard_error, model.log_z.standard_error)};
    const bool is_first = result.models.empty();
    if (is_first) of_first = values;
    for (size_t row = 0; row < values.size(); ++row)
      model.row_differences.push_back(values[row] - of_first[row]);
    if (!is_first) {
      model.difference = ComputeMean(model.row_differences);
      model.rows_error = model.difference.standard_error;
      model.log_z_error = std::hypot(model.log_z.standard_error, result.models.front().log_z.standard_error);
      model.difference.standard_error = std::hypot(model.rows_error, model.log_z_error);
    }
    WarnOf(model, result, observer);
    result.models.push_back(std::move(model));
  }
  result.settings = FindDifferences(sources);
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
