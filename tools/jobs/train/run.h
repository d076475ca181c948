#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/stopwatch.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/learning/learning_watch.h"
#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/run_setup.h"
#include "tools/jobs/train/steps/stepper.h"
#include "tools/jobs/train/train.h"
#include "tools/jobs/train/validation/validator.h"

namespace ort_ed {

// The files of a run in its folder, which is made and locked.
struct RunRecords {
  // Of what a previous process logged, steps up to `step` are kept.
  RunRecords(const std::string& run_folder, int64_t step)
      : folder(run_folder), checkpoints(folder + "/" + run_file::kCheckpoints), metrics(folder, step) {}

  std::string folder;
  CheckpointFolder checkpoints;
  MetricsLog metrics;
};

void WriteConfiguration(const TrainOptions& options, const std::string& folder);

// Tells when it is time again.
class Ticker {
 public:
  explicit Ticker(const Period& period) : period_(period) {}
  bool Due(int64_t step);

 private:
  Period period_;
  Stopwatch since_;
};

// Means of the metrics since the last logged line. Part of every checkpoint, so that a resumed run logs what
// an uninterrupted one would.
class RunningMeans {
 public:
  void Add(const StepResult& result);
  bool empty() const { return sums_.empty(); }
  double Mean(const std::string& name) const { return sums_.at(name) / sums_.at("count"); }

  const std::map<std::string, double>& sums() const { return sums_; }
  void Reset(std::map<std::string, double> sums = {}) { sums_ = std::move(sums); }

 private:
  std::map<std::string, double> sums_;
};

// One training from its first step, or from a checkpoint, to its end.
class Run {
 public:
  // `records`: null for a training that writes nothing. `resumed`: the checkpoint that the setup goes on
  // from, or null.
  Run(RunSetup setup, RunRecords* records, const Checkpoint* resumed, Observer& observer);

  TrainResult Train();
  // The first training rows as steps saw them, at most `rows` and not more than fit into memory easily.
  RowTable TrainingRows(int64_t rows);

 private:
  TrainResult Finish(bool complete);
  bool OutOfPatience() const;
  void Step();
  // What there is to do after a step, the same in all processes.
  struct Decisions {
    bool stop, log, validate, checkpoint;
  };
  Decisions Decide();
  void Log(bool log, bool validate);
  void Validate(MetricsLine& line);
  bool IsExtra(int64_t step) const;  // validated, though it is not time
  void JudgeLearning(bool at_the_end);
  bool BestIsTheBase() const;
  void TryParameters();
  [[noreturn]] void ThrowDiverged(int64_t step) const;
  std::string AdviceAgainstDivergence() const;

  void Save();
  Checkpoint MakeCheckpoint();
  onnx::ModelProto MakeDeployable();
  void KeepBest();
  void WriteModel(const char* file);
  void WriteCompanions();
  void ReportProgress();

  RunSetup setup_;
  const TrainOptions& options_;
  RunRecords* records_;
  Observer& observer_;
  int64_t first_step_, step_;
  Stepper stepper_;
  Validator validator_;
  const std::vector<int64_t> extra_validations_;  // steps
  LearningWatch watch_;
  bool judged_ = false;
  StepResult last_;
  Ticker log_, validate_, checkpoint_;
  RunningMeans means_;
  int64_t last_logged_step_ = 0;
  Stopwatch since_logged_;
  Stopwatch stopwatch_;
  TrainResult result_;
};

}  // namespace ort_ed
