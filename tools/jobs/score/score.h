#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/energy_model.h"
#include "runtime/data/row_reader.h"
#include "runtime/data/row_writer.h"
#include "tools/jobs/observer.h"
#include "tools/jobs/score/marginal_energy.h"

namespace ort_ed {

// Mean, spread and range of a column, taken in as its values come.
class ColumnStatistics {
 public:
  void Add(double value);

  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }
  // Of the finite values; not a number where there are too few.
  double mean() const;
  double standard_deviation() const;
  double min() const;
  double max() const;

 private:
  int64_t finite() const { return count_ - not_finite_; }

  int64_t count_ = 0;
  int64_t not_finite_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double min_ = 0;
  double max_ = 0;
};

// How odd rows are, where it is asked for: the fraction of other rows, by default the training rows, that are
// less odd.
struct Anomaly {
  ColumnStatistics fraction;
  int64_t above_95 = 0;  // rows that are odder than 95 % of the others
  int64_t above_99 = 0;
};

struct ScoreResult : JobResult {
  ColumnStatistics energy;
  std::optional<Anomaly> anomaly;
  std::optional<ColumnStatistics> log_likelihood;  // where the model carries log Z
};

// The columns that Score() writes of a model: "energy", "log_likelihood" where it carries log Z, and where
// they are asked for "anomaly" and the "standard_error" of sums over missing values.
std::vector<std::string> ScoreColumns(const EnergyModel& model, bool anomaly = false, bool marginal = false);

// Scores every row of `rows` in constant memory. `output`, which may be null, takes ScoreColumns() of each
// row. `reference`, which may be null, has the energies that anomalies are told from; `marginal`, which may
// be null, sums over missing values. Throws kBadData where there are no rows.
ScoreResult Score(const EnergyModel& model, RowReader& rows, RowWriter<float>* output, Observer& observer,
                  const EnergySketch* reference = nullptr, MarginalEnergy* marginal = nullptr);

// What anomalies are told from: the sketch that the model carries of its training rows. Throws
// kInvalidArgument where it has none.
const EnergySketch& TrainingEnergies(const EnergyModel& model, const std::string& name);
// The same of other rows. Throws kBadData where none of their energies is finite, and kInterrupted.
EnergySketch SketchReference(const EnergyModel& model, RowReader& rows, Observer& observer);

}  // namespace ort_ed
