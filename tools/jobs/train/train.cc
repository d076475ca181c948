#include "tools/jobs/train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

#include <malloc.h>
#include <onnx/onnx_pb.h>
#include <spdlog/spdlog.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/atomic_file.h"
#include "tools/jobs/train/checkpoint.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/run_folder.h"
#include "tools/jobs/train/run_setup.h"

namespace ort_ed {
namespace {

// Validation has noise of its own, the same every time.
constexpr uint64_t kValidationSeed = 0x6E6F6973652D7661ULL;
// A loss beyond this is no progress any more, though every number is still finite.
constexpr double kHopelessLoss = 1e6;

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Ticker {
 public:
  explicit Ticker(const Period& every) : every_(every) {}

  bool Due(int64_t step) {
    if (every_.seconds == 0) return every_.steps > 0 && step % every_.steps == 0;
    if (Seconds(Clock::now() - last_) < every_.seconds) return false;
    last_ = Clock::now();
    return true;
  }

 private:
  Period every_;
  Clock::time_point last_ = Clock::now();
};

// Means of the metrics since the last logged line. Part of every checkpoint, so that a resumed run logs what
// an uninterrupted one would.
class RunningMeans {
 public:
  void Add(const StepResult& result) {
    sums_["count"] += 1;
    sums_["loss"] += result.loss;
    sums_["energy_positive"] += result.energy_positive;
    sums_["energy_negative"] += result.energy_negative;
    sums_["gradient_norm"] += result.gradient_norm;
  }
  bool empty() const { return sums_.empty(); }
  double Mean(const std::string& name) const { return sums_.at(name) / sums_.at("count"); }

  const std::map<std::string, double>& sums() const { return sums_; }
  void Reset(std::map<std::string, double> sums = {}) { sums_ = std::move(sums); }

 private:
  std::map<std::string, double> sums_;
};

class Run {
 public:
  Run(RunSetup setup, std::string folder, const TrainHooks& hooks, const Checkpoint* resumed)
      : setup_(std::move(setup)),
        config_(setup_.config),
        folder_(std::move(folder)),
        hooks_(hooks),
        first_step_(resumed ? resumed->step : 0),
        step_(first_step_),
        batch_(MakeBatch(config_.batch_size)),
        checkpoints_(folder_ + "/" + run_file::kCheckpoints),
        metrics_(folder_, step_),
        log_(config_.log_every),
        validate_(config_.validate_every),
        checkpoint_(config_.checkpoint_every) {
    if (resumed) means_.Reset(resumed->running);
    result_.step = step_;
    result_.best = BestValidation(ReadMetrics(folder_ + "/" + MetricsLog::FileName()));
  }

  TrainResult Train() {
    last_logged_step_ = step_;
    last_logged_ = Clock::now();
    if (step_ == 0) {
      WriteCheckpoint();
    } else {
      WriteModel();  // the process may have been killed between checkpoint and model
    }
    while (step_ < config_.steps && !OutOfPatience()) {
      if (hooks_.stop && hooks_.stop()) {
        WriteCheckpoint();
        return result_;
      }
      Step();
      const bool last = step_ == config_.steps;
      const bool log = log_.Due(step_);
      const bool validate = validate_.Due(step_);
      if (log || validate || last) Log(log || last, validate || (last && !config_.validate_every.never()));
      if (checkpoint_.Due(step_) || last || OutOfPatience()) WriteCheckpoint();
      ReportProgress();
    }
    if (step_ < config_.steps) {
      if (!means_.empty()) Log(true, false);
      spdlog::info("ended early: none of the last {} validations was better than that of step {}",
                   result_.best.since(), result_.best.step());
    }
    result_.complete = true;
    return result_;
  }

 private:
  bool OutOfPatience() const { return config_.patience > 0 && result_.best.since() >= config_.patience; }

  ContrastiveBatch MakeBatch(int64_t positives) const {
    return {positives, setup_.perturbation->NegativesPerRow(config_.negatives), setup_.step->dimension(),
            setup_.perturbation->Weighted()};
  }

  const Perturbation& PerturbationOfStep() {
    if (config_.epsilon_end.empty()) return *setup_.perturbation;
    annealed_ = PerturbationOf(setup_, step_ + 1);
    return *annealed_;
  }

  void Step() {
    const int64_t first_row = step_ * config_.batch_size;
    for (int64_t i = 0; i < batch_.positives; ++i)
      setup_.dataset.training->Draw(first_row + i, batch_.Positive(i));
    FillNegatives(PerturbationOfStep(), static_cast<uint64_t>(config_.seed), static_cast<uint64_t>(step_), 0,
                  batch_);
    last_ = setup_.step->Step(batch_, config_.LearningRate(step_ + 1), step_ + 1);
    if (!last_.finite() || last_.loss > kHopelessLoss) ThrowDiverged(step_ + 1);
    ++step_;
    result_.step = step_;
    means_.Add(last_);
  }

  // The state of the last good step is in memory, but it is about to diverge: the checkpoints are better.
  [[noreturn]] void ThrowDiverged(int64_t step) const {
    if (step == 1 && std::isnan(last_.energy_positive))
      throw Error(ErrorCode::kBadModel,
                  "the model's energies are not numbers from the start; `ort-ed check` looks into a model");
    std::string advice =
        fmt::format("a smaller learning rate (--learning-rate {:.2g})", config_.learning_rate / 5);
    if (config_.clip == 0) advice += ", clipping of the gradient (--clip 5)";
    if (config_.clip > 0) advice += fmt::format(", a lower --clip than {}", config_.clip);
    if (config_.w == 0) advice += ", stabilisation of the loss (--w 1)";
    if (config_.warmup_steps == 0) advice += ", warm-up (--warmup-steps 1000)";
    throw Error(
        ErrorCode::kRuntime,
        fmt::format(
            "the training diverged at step {}: loss {}, energies {} of positives and {} of negatives, "
            "gradient norm {}. Try {}. The last good checkpoint is '{}'",
            step, last_.loss, last_.energy_positive, last_.energy_negative, last_.gradient_norm, advice,
            checkpoints_.PathOf(checkpoints_.Steps().back())));
  }

  void Log(bool log, bool validate) {
    MetricsLine line{.step = step_, .time = WallTime(), .values = {}};
    if (log && !means_.empty()) {
      for (const char* name : {"loss", "energy_positive", "energy_negative", "gradient_norm"})
        line.values.emplace_back(name, means_.Mean(name));
      line.values.emplace_back("learning_rate", config_.LearningRate(step_));
      line.values.emplace_back("steps_per_second", static_cast<double>(step_ - last_logged_step_) /
                                                       std::max(1e-9, Seconds(Clock::now() - last_logged_)));
      result_.loss = means_.Mean("loss");
      last_logged_step_ = step_;
      last_logged_ = Clock::now();
      means_.Reset();
    }
    if (validate && setup_.dataset.validation.rows > 0) {
      const double loss = Validate();
      if (!std::isfinite(loss)) {
        last_.loss = loss;
        ThrowDiverged(step_);
      }
      result_.validation_loss = loss;
      line.values.emplace_back(kValidationLoss, loss);
      if (result_.best.Add(step_, loss)) WriteDeployable(run_file::kBestModel);
    }
    if (!line.values.empty()) metrics_.Append(line);
  }

  // With the averaged weights, since those are deployed.
  double Validate() {
    const RowTable& rows = setup_.dataset.validation;
    const int64_t part = config_.micro_batch > 0 ? config_.micro_batch : config_.batch_size;
    double sum = 0;
    for (int64_t first = 0; first < rows.rows; first += part) {
      ContrastiveBatch batch = MakeBatch(std::min(part, rows.rows - first));
      for (int64_t i = 0; i < batch.positives; ++i)
        std::ranges::copy(rows.Row(first + i), batch.Positive(i).begin());
      FillNegatives(*setup_.perturbation, static_cast<uint64_t>(config_.seed) ^ kValidationSeed, 0, first,
                    batch);
      sum += setup_.step->Evaluate(batch, /*averaged=*/true).loss * static_cast<double>(batch.positives);
    }
    return sum / static_cast<double>(rows.rows);
  }

  // What a step reports is from before its update: the parameters that are about to be kept have not been
  // tried yet.
  void TryParameters() {
    constexpr int64_t kFew = 16;  // the whole batch would take its memory twice
    ContrastiveBatch few = MakeBatch(std::min(batch_.positives, kFew));
    std::copy_n(batch_.rows.begin(), few.rows.size(), few.rows.begin());
    std::copy_n(batch_.log_weights.begin(), few.log_weights.size(), few.log_weights.begin());
    static_cast<ContrastiveLoss&>(last_) = setup_.step->Evaluate(few, /*averaged=*/false);
    if (!last_.finite() || last_.loss > kHopelessLoss) ThrowDiverged(step_);
  }

  void WriteCheckpoint() {
    if (step_ > first_step_) TryParameters();
    checkpoints_.Write(MakeCheckpoint(), static_cast<int>(config_.keep_checkpoints),
                       [&](const StateTensor& tensor) { return setup_.step->ReadValues(tensor); });
    WriteModel();
  }

  // Without the values of its state, which may fill half the memory.
  Checkpoint MakeCheckpoint() {
    Checkpoint checkpoint{.step = step_,
                          .configuration = config_.Hash(),
                          .data = setup_.dataset.hash,
                          .model = {},
                          .running = means_.sums(),
                          .state = setup_.step->DescribeState()};
    RemoveParameters(setup_.model, checkpoint.state);
    SetMetadata(setup_.model, metadata_key::kTraining, DescribeTraining(setup_, step_));
    checkpoint.model = SerializeModel(setup_.model);
    return checkpoint;
  }

  void WriteModel() {
    WriteDeployable(run_file::kModel);
    if (hooks_.checkpoint) hooks_.checkpoint();
  }

  void WriteDeployable(const char* file) {
    RemoveParameters(setup_.model, setup_.step->DescribeState());
    onnx::ModelProto model = setup_.model;
    setup_.step->Export(model, /*averaged=*/true);
    SetMetadata(model, metadata_key::kTraining, DescribeTraining(setup_, step_));
    NoteWeights(model, config_.ema > 0 ? Weights::kAverage : Weights::kRaw);
    ort_ed::WriteModel(model, folder_ + "/" + file);
  }

  void ReportProgress() {
    if (!hooks_.progress) return;
    hooks_.progress({.step = step_,
                     .steps = config_.steps,
                     .loss = means_.empty() ? result_.loss.value_or(0) : means_.Mean("loss"),
                     .validation_loss = result_.validation_loss});
  }

  RunSetup setup_;
  const TrainConfig& config_;
  std::unique_ptr<Perturbation> annealed_;  // of this step, where it changes
  std::string folder_;
  const TrainHooks& hooks_;
  int64_t first_step_, step_;
  ContrastiveBatch batch_;
  StepResult last_;
  CheckpointFolder checkpoints_;
  MetricsLog metrics_;
  Ticker log_;
  Ticker validate_;
  Ticker checkpoint_;
  RunningMeans means_;
  int64_t last_logged_step_ = 0;
  Clock::time_point last_logged_;
  TrainResult result_;
};

// Makes large blocks go back to the system when they are freed: by default glibc soon keeps blocks of up to
// 32 MB, and the copies of parameters that come and go with checkpoints would add up.
void ReturnFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void Describe(const RunSetup& setup) {
  const Dataset& dataset = setup.dataset;
  spdlog::info("{} variables, {} rows to train on, {} to validate on; {} parameters; device {}",
               dataset.training->columns(),
               dataset.training_rows > 0 ? fmt::format("{}", dataset.training_rows) : "endless",
               dataset.validation.rows, setup.step->parameter_count(), setup.config.device);
}

}  // namespace

TrainResult StartTraining(TrainConfig config, const std::string& folder, ExistingRun existing,
                          const TrainHooks& hooks) {
  ReturnFreedMemory();
  CheckUnused(folder, existing);
  RunSetup setup = SetUp(std::move(config), hooks.synth);
  Describe(setup);
  MakeFolder(folder);
  const FolderLock lock(folder);
  CheckUnused(folder, existing);  // again: somebody else may have trained there in the meantime
  ClearRun(folder);
  WriteFileAtomically(folder + "/" + run_file::kConfig, setup.config.ToToml());
  return Run(std::move(setup), folder, hooks, nullptr).Train();
}

TrainConfig ReadRunConfig(const std::string& folder) {
  RequireRunFolder(folder);
  TrainConfig config;
  ReadConfig(folder + "/" + run_file::kConfig, config);
  return config;
}

TrainResult ResumeTraining(TrainConfig config, const std::string& folder, const TrainHooks& hooks) {
  ReturnFreedMemory();
  RequireRunFolder(folder);
  const FolderLock lock(folder);
  RemoveTemporaryFiles(folder);
  std::optional<Checkpoint> checkpoint = CheckpointFolder(folder + "/" + run_file::kCheckpoints).ReadNewest();
  // A run that was killed before its first checkpoint has no model either.
  if (!checkpoint && std::filesystem::exists(folder + "/" + run_file::kModel))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{0}' has a model but no checkpoint to go on from; train anew from that model: "
                            "--model {0}/{1} -o another-folder",
                            folder, run_file::kModel));
  RunSetup setup = checkpoint ? SetUp(std::move(config), *checkpoint, hooks.synth)
                              : SetUp(std::move(config), hooks.synth);  // killed before its first checkpoint
  if (checkpoint && setup.config.steps < checkpoint->step)
    setup.config.Reject("steps", fmt::format("the run has taken {} already", checkpoint->step));
  if (checkpoint) checkpoint->state.clear();
  Describe(setup);
  spdlog::info("resuming at step {}", checkpoint ? checkpoint->step : 0);
  WriteFileAtomically(folder + "/" + run_file::kConfig, setup.config.ToToml());
  return Run(std::move(setup), folder, hooks, checkpoint ? &*checkpoint : nullptr).Train();
}

}  // namespace ort_ed
