#include "tools/jobs/report/report.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/compare/compare.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/quadratic_couplings.h"
#include "tools/jobs/report/first_layer.h"
#include "tools/jobs/report/statistics.h"
#include "tools/jobs/sample/sample.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

constexpr uint64_t kNoiseSeed = 0x6E6F697365ULL;     // "noise"
constexpr uint64_t kSampleSeed = 0x7265706F7274ULL;  // "report": data may be samples of the same seed
constexpr int64_t kExtremeRows = 8;
constexpr int64_t kShownUnits = 48;
constexpr int64_t kCouplingsUpTo = 256;

std::vector<double> Energies(const EnergyModel& model, std::span<const uint8_t> rows) {
  std::vector<float> energies(rows.size() / static_cast<size_t>(model.dimension()));
  model.Energy(rows, energies);
  return {energies.begin(), energies.end()};
}

// Rows that know nothing but the base distribution of the model.
std::vector<double> NoiseEnergies(const EnergyModel& model, int64_t rows, uint64_t seed) {
  const std::vector<float> noise = MakeBaseDistribution(model)->DrawRows(seed ^ kNoiseSeed, 0, rows);
  const std::vector<uint8_t> bits(noise.begin(), noise.end());
  return Energies(model, bits);
}

void DrawSamples(const LoadedModel& model, const ReportOptions& options, ReportResult& result,
                 Observer& observer) {
  SampleOptions sampling;
  sampling.samples = options.samples;
  sampling.steps = options.steps;
  sampling.sampler = options.sampler;
  sampling.seed = options.seed ^ kSampleSeed;
  sampling.threads = options.threads;
  SampleResult drawn = Sample(model, {}, sampling, {}, observer);
  if (!drawn.complete) throw Error(ErrorCode::kInterrupted, "interrupted; no file was written");
  result.warnings.insert(result.warnings.end(), drawn.warnings.begin(), drawn.warnings.end());
  result.agreement = drawn.agreement;
  result.samples = {.rows = drawn.samples, .columns = model.dimension(), .values = std::move(drawn.rows)};
}

void FindExtremes(ReportResult& result) {
  std::vector<int64_t> order(result.data_energies.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto energy = [&](int64_t row) { return result.data_energies[static_cast<size_t>(row)]; };
  std::ranges::stable_sort(order, {}, energy);
  const auto count = static_cast<std::ptrdiff_t>(std::min<int64_t>(kExtremeRows, std::ssize(order)));
  result.most_likely.assign(order.begin(), order.begin() + count);
  result.least_likely.assign(order.rbegin(), order.rbegin() + count);
}

void FindLikelihood(const ModelSource& source, const ReportData& data, const ReportOptions& options,
                    ReportResult& result, Observer& observer) {
  const CompareResult compared =
      Compare({source}, data.rows,
              {.estimator = options.estimator, .seed = options.seed, .threads = options.threads}, observer);
  result.log_z = compared.models.front().log_z;
  result.log_likelihood = compared.models.front().log_likelihood;
  result.warnings.insert(result.warnings.end(), compared.warnings.begin(), compared.warnings.end());
}

// Couplings are the whole of a quadratic model; of others the first layer shows what they look for.
void ReadWeights(const LoadedModel& model, ReportResult& result, Observer& observer) {
  if (model.metadata().degree.value_or(0) == 2 && model.dimension() <= kCouplingsUpTo) {
    try {
      result.couplings = QuadraticCouplings(model, observer);
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;  // where rounding leaves room for doubt
    }
  }
  result.first_layer = ReadFirstLayer(model, kShownUnits);
}

}  // namespace

void ReportOptions::Describe(Declare<ReportOptions>& declare) {
  using Self = ReportOptions;
  declare("likelihood", &Self::likelihood, "", "with the likelihood of the data, which needs log Z");
  declare("estimator", &Self::estimator, EstimatorTable, "how log Z is found").When("likelihood", "true");
  declare("samples", &Self::samples, "[10, 1e6]", "of the model, each from a chain of its own");
  declare("steps", &Self::steps, "[2, 1e12]", "of each chain; a step of gibbs is a sweep over all variables");
  declare("sampler", &Self::sampler, SampleTable, "how chains move, or exact: no chains");
  declare("seed", &Self::seed, "[0, inf)", "of samples, noise, and the chains of log Z");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

ReportResult MakeReport(const ModelSource& source, const ReportData* data, const ReportOptions& options,
                        Observer& observer) {
  CheckOptions(options);
  const Stopwatch stopwatch;
  const LoadedModel& model = source.model;
  ReportResult result;
  result.dimension = model.dimension();
  result.variables = model.energy_model().variables();
  result.parameters = CountParameters(model);
  if (data != nullptr) {
    if (data->rows.columns != result.dimension)
      throw Error(ErrorCode::kBadData, fmt::format("'{}' has {} columns, but the model has {} variables",
                                                   data->name, data->rows.columns, result.dimension));
    result.data_energies = Energies(model.energy_model(), data->rows.values);
    FindExtremes(result);
  }
  ReadWeights(model, result, observer);
  DrawSamples(model, options, result, observer);
  result.sample_energies = Energies(model.energy_model(), result.samples.values);
  result.noise_energies = NoiseEnergies(model.energy_model(), result.samples.rows, options.seed);
  if (data != nullptr) {
    result.means = CompareMeans(data->rows, result.samples);
    result.correlations = CompareCorrelations(data->rows, result.samples, result.variables, options.seed);
    if (options.likelihood) FindLikelihood(source, *data, options, result, observer);
  } else if (const std::optional<LogZ>& log_z = model.metadata().log_z) {
    result.log_z.emplace();
    result.log_z->log_z = log_z->value;
    result.log_z->standard_error = log_z->standard_error;
    result.log_z->method = log_z->method;
  }
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
