#include "tools/jobs/train/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/pictures/event_pictures.h"
#include "tools/jobs/train/setup/describe_training.h"
#include "trainer/graph/half_parameters.h"

namespace ort_ed {
namespace {

// Long enough to tell whether anything is learned, soon enough to change it.
constexpr double kFirstJudgement = 30;  // seconds

constexpr int64_t kPicturedSamples = 64;

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void WriteConfiguration(const TrainOptions& options, const std::string& folder) {
  WriteFileAtomically(folder + "/" + run_file::kConfig, WriteToml(options));
}

bool Ticker::Due(int64_t step) {
  if (period_.seconds == 0) return period_.steps > 0 && step % period_.steps == 0;
  if (since_.Seconds() < period_.seconds) return false;
  since_.Restart();
  return true;
}

void RunningMeans::Add(const StepResult& result) {
  sums_["count"] += 1;
  sums_["loss"] += result.loss;
  sums_["energy_positive"] += result.energy_positive;
  sums_["energy_negative"] += result.energy_negative;
  sums_["gradient_norm"] += result.gradient_norm;
}

Run::Run(RunSetup setup, RunRecords* records, const Checkpoint* resumed, Observer& observer)
    : setup_(std::move(setup)),
      options_(setup_.options),
      records_(records),
      observer_(observer),
      first_step_(resumed != nullptr ? resumed->step : 0),
      step_(first_step_),
      stepper_(setup_),
      validator_(setup_),
      extra_validations_(validator_.ExtraSteps()),
      watch_(setup_),
      log_(options_.run.log_every),
      validate_(options_.run.validate_every),
      checkpoint_(options_.run.checkpoint_every),
      last_logged_step_(step_) {
  if (resumed != nullptr) {
    means_.Reset(resumed->running);
    watch_.Reset(resumed->watch);
  }
  result_.step = step_;
  result_.warnings = setup_.warnings;
  const BestRules rules = {.lowest_loss = validator_.LowestLoss(), .extra_steps = extra_validations_};
  result_.best = BestValidation(rules);
  if (records_ == nullptr) return;
  for (const std::string& warning : records_->metrics.warnings()) Warn(warning, result_, observer_);
  result_.best = BestValidation(ReadMetrics(records_->folder + "/" + MetricsLog::FileName()), rules);
}

TrainResult Run::Train() {
  if (step_ == 0) {
    Save();
    if (IsExtra(0)) Log(/*log=*/false, /*validate=*/true);
  } else {
    WriteModel(run_file::kModel);  // the process may have been killed between checkpoint and model
    WriteCompanions();
  }
  const bool alone = setup_.processes->size() == 1;
  bool stop = StopTogether(observer_);
  while (step_ < options_.run.steps && !OutOfPatience()) {
    if (alone) stop = observer_.StopRequested();  // several decide it together, in each step
    if (stop) {
      Save();
      return Finish(/*complete=*/false);
    }
    Step();
    const bool last = step_ == options_.run.steps;
    const Decisions due = Decide();
    stop = due.stop;
    const bool validate = due.validate || IsExtra(step_);
    if (due.log || validate || last)
      Log(due.log || last, validate || (last && !options_.run.validate_every.never()));
    if (due.checkpoint || last || OutOfPatience()) Save();
    if (!judged_ && stopwatch_.Seconds() > kFirstJudgement) JudgeLearning(/*at_the_end=*/false);
    ReportProgress();
  }
  if (step_ < options_.run.steps) {
    if (!means_.empty() && step_ > first_step_) Log(true, false);
    observer_.OnNotice(
        fmt::format("ended early: none of the last {} validations was better than that of step {}",
                    result_.best.since(), result_.best.step()));
  }
  JudgeLearning(/*at_the_end=*/true);
  return Finish(/*complete=*/true);
}

// Any process may be asked to stop; the time is that of the first.
Run::Decisions Run::Decide() {
  const Decisions own = {observer_.StopRequested(), log_.Due(step_), validate_.Due(step_),
                         checkpoint_.Due(step_)};
  if (setup_.processes->size() == 1) return own;
  const std::vector<std::string> all =
      setup_.processes->Gather({reinterpret_cast<const char*>(&own), sizeof own});
  Decisions decided{};
  for (size_t rank = all.size(); rank-- > 0;) {
    const bool stop = decided.stop;
    std::memcpy(&decided, all[rank].data(), sizeof decided);
    decided.stop |= stop;
  }
  return decided;
}

bool Run::IsExtra(int64_t step) const {
  return std::ranges::find(extra_validations_, step) != extra_validations_.end();
}

RowTable Run::TrainingRows(int64_t rows) {
  constexpr int64_t kValues = int64_t{1} << 25;
  RowSource& source = *setup_.dataset->training;
  RowTable table{.rows = std::clamp<int64_t>(kValues / source.columns(), 1, rows),
                 .columns = source.columns(),
                 .values = {}};
  if (setup_.dataset->training_rows > 0) table.rows = std::min(table.rows, setup_.dataset->training_rows);
  const auto width = static_cast<size_t>(table.columns);
  table.values.resize(static_cast<size_t>(table.rows) * width);
  for (int64_t n = 0; n < table.rows; ++n)
    source.Draw(n, std::span(table.values).subspan(static_cast<size_t>(n) * width, width));
  return table;
}

TrainResult Run::Finish(bool complete) {
  result_.complete = complete;
  result_.seconds = setup_.clock.Seconds();
  result_.model = MakeDeployable();
  return std::move(result_);
}

bool Run::OutOfPatience() const {
  return options_.run.patience > 0 && result_.best.since() >= options_.run.patience;
}

void Run::Step() {
  last_ = stepper_.Take(step_, options_.LearningRate(step_ + 1), options_.Progress(step_ + 1));
  if (HasDiverged(last_)) ThrowDiverged(step_ + 1);
  ++step_;
  result_.step = step_;
  means_.Add(last_);
  watch_.AddStep(last_);
}

void Run::Log(bool log, bool validate) {
  MetricsLine line{.step = step_, .time = WallTime(), .values = {}};
  if (log && !means_.empty()) {
    for (const char* name : {"loss", "energy_positive", "energy_negative", "gradient_norm"})
      line.values.emplace_back(name, means_.Mean(name));
    line.values.emplace_back("learning_rate", options_.LearningRate(step_));
    for (const auto& [name, value] : setup_.negatives->Metrics()) line.values.emplace_back(name, value);
    line.values.emplace_back("steps_per_second", static_cast<double>(step_ - last_logged_step_) /
                                                     std::max(1e-9, since_logged_.Seconds()));
    result_.loss = means_.Mean("loss");
    last_logged_step_ = step_;
    since_logged_.Restart();
    means_.Reset();
  }
  if (validate && setup_.dataset->validation.rows > 0) Validate(line);
  if (records_ != nullptr && !line.values.empty()) records_->metrics.Append(line);
  if (records_ != nullptr && validate && setup_.dataset->validation.rows > 0)
    AppendPictures(setup_, stepper_.batch(), validator_.Samples(kPicturedSamples), step_, line.time,
                   records_->metrics);
}

void Run::Validate(MetricsLine& line) {
  const Validation validation = validator_.Validate();
  if (!std::isfinite(validation.loss)) {
    last_.loss = validation.loss;
    ThrowDiverged(step_);
  }
  line.values.emplace_back(kValidationLoss, validation.loss);
  std::optional<double> nll;
  if (const auto& likelihood = validation.likelihood) {
    if (likelihood->reliable()) nll = likelihood->nll;
    if (likelihood->tells_something())
      line.values.emplace_back(nll ? kValidationNll : kRoughValidationNll, likelihood->nll);
    if (likelihood->effective) line.values.emplace_back(kValidationDraws, *likelihood->effective);
    watch_.AddValidation(*likelihood, validator_.base_nll());
  }
  result_.validation_loss = validation.loss;
  result_.validation_likelihood = validation.likelihood;
  if (result_.best.Add(step_, validation.loss, nll)) KeepBest();
}

// On the way only failures are told: what is not yet learned may come.
void Run::JudgeLearning(bool at_the_end) {
  judged_ = true;
  LearningVerdict verdict = watch_.Judge();
  if (at_the_end && verdict.learned && verdict.text.empty() && BestIsTheBase())
    verdict.text = "no later validation was better than that of step 0: best.onnx is the base alone";
  const bool told = !result_.learning.learned;
  if (!verdict.learned && !told) Warn(verdict.text, result_, observer_);
  if (verdict.learned && !verdict.text.empty() && at_the_end) observer_.OnNotice(verdict.text);
  result_.learning = verdict;
}

bool Run::BestIsTheBase() const {
  return setup_.negatives->of_network_alone() && step_ > 0 && result_.best.known() &&
         result_.best.step() == 0;
}

// What a step reports is from before its update: the parameters that are about to be kept have not been
// tried yet.
void Run::TryParameters() {
  constexpr int64_t kFew = 16;  // the whole batch would take its memory twice
  const ContrastiveBatch& batch = stepper_.batch();
  ContrastiveBatch few = MakeBatch(setup_, std::min(batch.positives, kFew));
  std::copy_n(batch.rows.begin(), few.rows.size(), few.rows.begin());
  std::copy_n(batch.log_weights.begin(), few.log_weights.size(), few.log_weights.begin());
  static_cast<ContrastiveLoss&>(last_) = setup_.learner->Evaluate(few, /*averaged=*/false);
  if (HasDiverged(last_)) ThrowDiverged(step_);
}

// The state of the last good step is in memory, but it is about to diverge: the checkpoints are better.
void Run::ThrowDiverged(int64_t step) const {
  if (step == 1 && std::isnan(last_.energy_positive))
    throw Error(ErrorCode::kBadModel,
                "the model's energies are not numbers from the start; `ort-ed check` looks into a model");
  const std::string saved =
      records_ == nullptr ? ""
                          : fmt::format(". The last good checkpoint is '{}'",
                                        records_->checkpoints.MakePath(records_->checkpoints.Steps().back()));
  throw Error(
      ErrorCode::kRuntime,
      fmt::format("the training diverged at step {}: loss {}, energies {} of positives and {} of negatives, "
                  "gradient norm {}. Try {}{}",
                  step, last_.loss, last_.energy_positive, last_.energy_negative, last_.gradient_norm,
                  AdviceAgainstDivergence(), saved));
}

std::string Run::AdviceAgainstDivergence() const {
  const OptimizerOptions& optimizer = options_.optimizer;
  const OptionMap chosen = GetOptions(SchemaOf<TrainOptions>(), &options_);
  const auto is_zero = [&](const char* key) {
    const auto found = chosen.find(key);
    return found != chosen.end() && FormatOption(found->second) == "0";
  };
  std::string advice =
      fmt::format("a smaller learning rate (learning_rate {:.2g})", optimizer.learning_rate / 5);
  if (optimizer.clip == 0) advice += ", clipping of the gradient (clip 5)";
  if (optimizer.clip > 0) advice += fmt::format(", a lower clip than {}", optimizer.clip);
  const OptionMap negatives = setup_.negatives->Describe(1);
  if (const auto steps = negatives.find("chain_steps"); steps != negatives.end())
    advice +=
        fmt::format(", more steps of the chains (chain_steps {})", 5 * std::get<int64_t>(steps->second));
  if (is_zero("energy_l2")) advice += ", a penalty on the energies (energy_l2 0.1)";
  if (is_zero("w")) advice += ", stabilisation of the loss (w 1)";
  if (options_.schedule.warmup_steps == 0) advice += ", warm-up (warmup_steps 1000)";
  return advice;
}

void Run::Save() {
  if (step_ > first_step_ && setup_.processes->rank() == 0) TryParameters();
  if (records_ == nullptr) return;
  records_->checkpoints.Write(MakeCheckpoint(), static_cast<int>(options_.run.keep_checkpoints),
                              [&](const StateTensor& tensor) { return setup_.learner->ReadValues(tensor); });
  WriteModel(run_file::kModel);
  WriteCompanions();
}

void Run::WriteCompanions() {
  if (records_ == nullptr) return;
  for (const auto& [file, bytes] : setup_.negatives->Companions()) {
    const std::string path = records_->folder + "/" + file;
    WriteFileAtomically(path, bytes);
    observer_.OnSaved(path);
  }
}

// Without the values of its state, which may fill half the memory.
Checkpoint Run::MakeCheckpoint() {
  Checkpoint checkpoint{.step = step_,
                        .configuration = FixedOptions(options_),
                        .former_hash = {},
                        .data = setup_.dataset->hash,
                        .model = {},
                        .running = means_.sums(),
                        .watch = watch_.sums(),
                        .state = setup_.learner->DescribeState()};
  RemoveParameters(setup_.model, checkpoint.state);
  for (StateTensor& tensor : setup_.negatives->Save()) checkpoint.state.push_back(std::move(tensor));
  SetMetadata(setup_.model, metadata_key::kTraining, DescribeTraining(setup_, step_));
  checkpoint.model = SerializeModel(setup_.model);
  return checkpoint;
}

onnx::ModelProto Run::MakeDeployable() {
  RemoveParameters(setup_.model, setup_.learner->DescribeState());
  onnx::ModelProto model = setup_.model;
  setup_.learner->Export(model, /*averaged=*/true);
  NarrowParameters(model);
  SetMetadata(model, metadata_key::kTraining, DescribeTraining(setup_, step_));
  NoteWeights(model, options_.optimizer.ema > 0 ? Weights::kAverage : Weights::kRaw);
  return model;
}

void Run::KeepBest() {
  WriteModel(run_file::kBestModel);
  if (records_ == nullptr) result_.best_model = MakeDeployable();
}

void Run::WriteModel(const char* file) {
  if (records_ == nullptr) return;
  const std::string path = records_->folder + "/" + file;
  ort_ed::WriteModel(MakeDeployable(), path);
  observer_.OnSaved(path);
}

void Run::ReportProgress() {
  Work work{"training", "steps", step_, options_.run.steps};
  work.metrics.emplace_back("loss", means_.empty() ? result_.loss.value_or(0) : means_.Mean("loss"));
  if (const auto& likelihood = result_.validation_likelihood; likelihood && likelihood->reliable()) {
    work.metrics.emplace_back("validation nats", likelihood->nll);
  } else if (result_.validation_loss) {
    work.metrics.emplace_back("validation", *result_.validation_loss);
  }
  observer_.OnWork(work);
}

}  // namespace ort_ed
