#include "tools/jobs/evaluate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "tools/jobs/data/random_rows.h"
#include "tools/jobs/energies_together.h"
#include "tools/jobs/log_z/estimator.h"
#include "tools/jobs/sample/chains.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

template <typename Values>
MeanValue ComputeMean(const Values& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n) : NAN};
}

std::vector<float> Energies(const EnergyModel& model, const RowTable& data, Collective& processes) {
  std::vector<float> energies(static_cast<size_t>(data.rows));
  EnergiesTogether(model, data.values, energies, processes);
  return energies;
}

// RAISE: -log p(x) is estimated by U(x) + a(x), a(x) = -log of the mean over chains of 1 / w. The mean of U
// is known for the whole test set; a varies little from row to row, so a few rows do.
MeanValue RaiseNll(const MeanValue& energy, const std::vector<double>& log_weights, size_t repeats) {
  const size_t rows = log_weights.size() / repeats;
  std::vector<double> corrections(rows);
  std::vector<double> of_row(repeats);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t repeat = 0; repeat < repeats; ++repeat) of_row[repeat] = -log_weights[repeat * rows + row];
    corrections[row] = -SummariseLogWeights(of_row).log_mean;
  }
  const MeanValue correction = ComputeMean(corrections);
  return {energy.value + correction.value, std::hypot(energy.standard_error, correction.standard_error)};
}

std::optional<double> FindEntropy(const std::string& density, const RowTable& data) {
  if (density.empty()) return std::nullopt;
  const double entropy = FindPlanarDensity(density).entropy;
  if (data.columns != PlanarCode::kBits)
    throw OptionError("density", fmt::format("{} has rows of {} variables, the data of {}", density,
                                             int{PlanarCode::kBits}, data.columns));
  return entropy;
}

// Of the base distribution alone, where it has learned something.
std::optional<MeanValue> BaseNll(const EnergyModel& model, const RowTable& data, int threads) {
  if (!model.metadata().base) return std::nullopt;
  std::vector<double> energies(static_cast<size_t>(data.rows));
  MakeBaseDistribution(model, threads)
      ->Energy(std::vector<float>(data.values.begin(), data.values.end()), energies);
  return ComputeMean(energies);
}

void EstimateNormaliser(const LogZRequest& request, const ChosenEstimator& estimator, EvaluateResult& result,
                        Observer& observer) {
  const LogZOutcome outcome = estimator.Estimate(request, observer);
  result.log_z = outcome.estimate;
  result.reverse = outcome.reverse;
  if (!outcome.test_log_weights.empty())
    result.raise_nll =
        RaiseNll(result.energy, outcome.test_log_weights, static_cast<size_t>(request.test_chains));
}

void WarnOfUnreliable(EvaluateResult& result, Observer& observer) {
  if (!result.log_z.warning.empty()) Warn("log Z: " + result.log_z.warning, result, observer);
  if (result.reverse && !result.reverse->warning.empty())
    Warn("log Z, reverse: " + result.reverse->warning, result, observer);
  constexpr double kErrors = 4;
  if (result.reverse && std::abs(result.reverse->log_z - result.log_z.log_z) >
                            kErrors * std::hypot(result.reverse->standard_error, result.log_z.standard_error))
    Warn(
        "log Z forwards and in reverse differ by more than their errors tell: chains mix too slowly; take "
        "more temperatures, and do not trust the likelihood until both agree",
        result, observer);
  if (result.raise_nll && result.raise_nll->value - result.Nll() > kErrors * result.raise_nll->standard_error)
    Warn(
        "RAISE from the test rows is far from annealing: the rows lie where annealed chains seldom end, or "
        "leave slowly; take more temperatures, and do not trust the likelihood until both agree",
        result, observer);
}

// The long work. Throws kInterrupted.
void CompareWithData(const LoadedModel& loaded, const EnergyModel& model, const RowTable& data,
                     const EvaluateOptions& options, const ChosenEstimator& estimator, EvaluateResult& result,
                     Observer& observer) {
  ModelEnergy energy(loaded, model, options.threads, observer);
  EstimateNormaliser({.model = loaded,
                      .energy = energy,
                      .seed = options.seed,
                      .threads = options.threads,
                      .both_sides = true,
                      .test_rows = RandomRows(data, options.raise_rows, options.seed),
                      .test_chains = options.raise_chains},
                     estimator, result, observer);
  WarnOfUnreliable(result, observer);
  if (options.comparison.samples > 0)
    result.samples = CompareSamples(PathFrom(options.comparison.base, energy), data, options.comparison,
                                    options.seed, options.threads, observer);
}

}  // namespace

void EvaluateOptions::Describe(Declare<EvaluateOptions>& declare) {
  using Self = EvaluateOptions;
  declare("estimator", &Self::estimator, EstimatorTable,
          "how log Z is estimated; ais forwards and in reverse")
      .Formerly("log_z");
  declare("raise_rows", &Self::raise_rows, "[0, 1e9]",
          "with ais: test rows from which RAISE starts, drawn by the seed; 0: none")
      .When("estimator", "ais|auto");
  declare("raise_chains", &Self::raise_chains, "[1, 1e9]", "with ais: chains of RAISE for each of its rows")
      .When("estimator", "ais|auto")
      .When("raise_rows", "[1, inf)");
  declare("density", &Self::density, "NAME",
          "the planar density the data comes from: also tells how far above its entropy the model is");
  declare.All(&Self::comparison);
  declare("seed", &Self::seed, "[0, inf)",
          "of chains, proposals, samples and the rows where RAISE starts, and of the bits that are drawn of "
          "grey values");
  declare("threads", &Self::threads, "[0, inf)", "threads; 0: all cores");
}

double EvaluateResult::NllError() const { return std::hypot(energy.standard_error, log_z.standard_error); }

double EvaluateResult::BitsPerDimension() const {
  return Nll() / (static_cast<double>(variables) * std::log(2.0));
}

EvaluateResult Evaluate(const LoadedModel& loaded, const RowTable& data, const EvaluateOptions& options,
                        Observer& observer) {
  CheckOptions(options);
  CheckComparison(options.comparison, data);
  const Stopwatch stopwatch;
  const ChosenEstimator estimator = FindEstimator(options.estimator);
  std::vector<Choice> samplers = estimator.Samplers();
  samplers.push_back(options.comparison.sampler);
  const EnergyModel& model = ModelFor(loaded, samplers);
  EvaluateResult result;
  result.entropy = FindEntropy(options.density, data);
  result.rows = data.rows;
  result.dimension = data.columns;
  result.variables = model.variables().size();
  result.data_energies = Energies(model, data, observer.processes());
  result.energy = ComputeMean(result.data_energies);
  result.base_nll = BaseNll(model, data, options.threads);

  try {
    CompareWithData(loaded, model, data, options, estimator, result, observer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    result.complete = false;
  }
  result.seconds = stopwatch.Seconds();
  return result;
}

}  // namespace ort_ed
