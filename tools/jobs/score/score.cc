#include "tools/jobs/score/score.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "tools/jobs/energies_together.h"
#include "tools/jobs/explain/energy_sketch.h"
#include "tools/jobs/stopwatch.h"

namespace ort_ed {
namespace {

// Rows held in memory at a time: the file may be larger than the memory.
int64_t BlockRows(int64_t dimension) {
  constexpr int64_t kBlockBytes = int64_t{1} << 22;
  return std::max<int64_t>(1, kBlockBytes / dimension);
}

void AddAnomaly(double fraction, Anomaly& anomaly) {
  anomaly.fraction.Add(fraction);
  anomaly.above_95 += fraction > 0.95;
  anomaly.above_99 += fraction > 0.99;
}

// Scores a block; returns the columns of the output, row by row.
std::vector<float> ScoreBlock(const EnergyModel& model, std::span<const uint8_t> rows,
                              const EnergySketch* reference, MarginalEnergy* marginal,
                              const std::function<void(int64_t)>& look, Collective& processes,
                              ScoreResult& result) {
  std::vector<float> energies(rows.size() / static_cast<size_t>(model.dimension()));
  std::vector<float> errors(marginal != nullptr ? energies.size() : 0);
  if (marginal != nullptr)
    marginal->Energy(rows, energies, errors, look);
  else
    EnergiesTogether(model, rows, energies, processes);
  for (const float energy : energies) result.energy.Add(energy);
  if (!model.HasLogZ() && reference == nullptr && marginal == nullptr) return energies;
  std::vector<double> log_likelihoods(model.HasLogZ() ? energies.size() : 0);
  if (model.HasLogZ()) model.LogLikelihood(energies, log_likelihoods);
  std::vector<float> columns;
  columns.reserve(3 * energies.size());
  for (size_t row = 0; row < energies.size(); ++row) {
    columns.push_back(energies[row]);
    if (model.HasLogZ()) {
      result.log_likelihood->Add(log_likelihoods[row]);
      columns.push_back(static_cast<float>(log_likelihoods[row]));
    }
    if (reference != nullptr) {
      const double fraction = reference->FractionBelow(energies[row]);
      AddAnomaly(fraction, *result.anomaly);
      columns.push_back(static_cast<float>(fraction));
    }
    if (marginal != nullptr) columns.push_back(errors[row]);
  }
  return columns;
}

void TellOfEstimates(const MarginalisedRows& found, Observer& observer) {
  if (found.estimated == 0) return;
  observer.OnNotice(
      fmt::format("{} of {} rows with missing values have too many states for a sum: their energies are "
                  "estimates, with standard errors up to {:.2g} (column standard_error)",
                  found.estimated, found.rows, found.largest_error));
}

}  // namespace

void ColumnStatistics::Add(double value) {
  ++count_;
  if (!std::isfinite(value)) {
    ++not_finite_;
    return;
  }
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(finite());
  squares_ += delta * (value - mean_);
  min_ = finite() == 1 ? value : std::min(min_, value);
  max_ = finite() == 1 ? value : std::max(max_, value);
}

double ColumnStatistics::mean() const { return finite() > 0 ? mean_ : NAN; }
double ColumnStatistics::min() const { return finite() > 0 ? min_ : NAN; }
double ColumnStatistics::max() const { return finite() > 0 ? max_ : NAN; }
double ColumnStatistics::standard_deviation() const {
  return finite() > 1 ? std::sqrt(squares_ / static_cast<double>(finite() - 1)) : NAN;
}

std::vector<std::string> ScoreColumns(const EnergyModel& model, bool anomaly, bool marginal) {
  std::vector<std::string> names = {"energy"};
  if (model.HasLogZ()) names.emplace_back("log_likelihood");
  if (anomaly) names.emplace_back("anomaly");
  if (marginal) names.emplace_back("standard_error");
  return names;
}

ScoreResult Score(const EnergyModel& model, RowReader& rows, RowWriter<float>* output, Observer& observer,
                  const EnergySketch* reference, MarginalEnergy* marginal) {
  const Stopwatch stopwatch;
  ScoreResult result;
  if (model.HasLogZ()) result.log_likelihood.emplace();
  if (reference != nullptr) result.anomaly.emplace();
  const auto watch = Watch(observer, "scoring", "rows");
  std::vector<uint8_t> block(static_cast<size_t>(BlockRows(model.dimension()) * model.dimension()));
  while (const int64_t count = rows.Read(block)) {
    const auto values = std::span(block).first(static_cast<size_t>(count * model.dimension()));
    const auto look = [&](int64_t done) { watch(result.energy.count() + done, rows.rows().value_or(0)); };
    const std::vector<float> columns =
        ScoreBlock(model, values, reference, marginal, look, observer.processes(), result);
    if (output != nullptr) output->Write(columns);
    look(0);
  }
  if (result.energy.count() == 0)
    throw Error(ErrorCode::kBadData, "the data holds no rows; there is nothing to score");
  if (const int64_t bad = result.energy.not_finite(); bad > 0)
    Warn(fmt::format("{} of {} energies are not finite; the model overflows or its weights are damaged", bad,
                     result.energy.count()),
         result, observer);
  if (marginal != nullptr) TellOfEstimates(marginal->found(), observer);
  result.seconds = stopwatch.Seconds();
  return result;
}

const EnergySketch& TrainingEnergies(const EnergyModel& model, const std::string& name) {
  if (!model.metadata().training_energies)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' does not carry the energies of its training rows, as models do that `ort-ed train` "
                    "has finished; name rows to compare with (--reference FILE)",
                    name));
  return *model.metadata().training_energies;
}

EnergySketch SketchReference(const EnergyModel& model, RowReader& rows, Observer& observer) {
  const auto watch = Watch(observer, "scoring the reference", "rows");
  std::vector<float> energies;
  std::vector<uint8_t> block(static_cast<size_t>(BlockRows(model.dimension()) * model.dimension()));
  while (const int64_t count = rows.Read(block)) {
    energies.resize(energies.size() + static_cast<size_t>(count));
    EnergiesTogether(model, std::span(block).first(static_cast<size_t>(count * model.dimension())),
                     std::span(energies).last(static_cast<size_t>(count)), observer.processes());
    watch(std::ssize(energies), rows.rows().value_or(0));
  }
  const auto sketch = SketchEnergies(std::move(energies));
  if (!sketch)
    throw Error(ErrorCode::kBadData, "the reference holds no row of finite energy; name other rows");
  return *sketch;
}

}  // namespace ort_ed
