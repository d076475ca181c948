#include "tools/jobs/train/train_options.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "models/base/base_kind.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

KindTable ModelTable() {
  KindTable table = ArchitectureTable();
  table.file_suffix = ".onnx";
  return table;
}

// Options of the objectives that methods choose by themselves; which of them there are is known with the
// method (ResolveObjective() in run_setup.cc), and that objective checks their values.
struct AutoObjectiveOptions {
  std::optional<double> w = {}, energy_l2 = {}, ratio_clip = {};
  static void Describe(Declare<AutoObjectiveOptions>& declare) {
    declare("w", &AutoObjectiveOptions::w, "", "");
    declare("energy_l2", &AutoObjectiveOptions::energy_l2, "", "");
    declare("ratio_clip", &AutoObjectiveOptions::ratio_clip, "", "");
  }
};

KindTable TrainObjectiveTable() {
  KindTable table;
  for (const ObjectiveKind* kind : ObjectiveKinds())
    if (!kind->for_policies) table.rows.push_back({kind->name, kind->summary, &kind->schema()});
  table.rows.push_back(
      {kAutoObjective, "what the method makes negatives for", &SchemaOf<AutoObjectiveOptions>()});
  return table;
}

// An option of bernoulli chooses it, as it did before there was a choice.
KindTable TrainMethodTable() {
  KindTable table = NegativeTable();
  const auto bernoulli = std::ranges::find(table.rows, kNoiseMethod, &KindRow::name);
  table.rows.push_back({kAutoMethod, "what fits the rows and the model", bernoulli->schema});
  return table;
}

KindTable LearnedBaseTable() {
  KindTable table = BaseTable();
  table.file_suffix = ".onnx";
  return table;
}

}  // namespace

void NetworkOptions::Describe(Declare<NetworkOptions>& declare) {
  using O = NetworkOptions;
  declare("model", &O::model, ModelTable, "an architecture of `ort-ed new`, or an .onnx file to start from")
      .Table("model_options");
  declare("image_shape", &O::image_shape, "HxW",
          "height x width where the variables form an image, e.g. 28x28");
  declare("base", &O::base, LearnedBaseTable,
          "distribution under the network, U = net - log p0: one of these, or an .onnx file that `base` made "
          "or `model` made has trained");
  declare("frozen", &O::frozen, "PATTERN,...", "patterns of parameters that are not trained");
  declare("trainable", &O::trainable, "PATTERN,...",
          "patterns of initialisers of an .onnx file that are trained though they look like constants");
  declare("freeze_zeros", &O::freeze_zeros, "",
          "entries of parameters that are exactly 0 in the initial model stay 0");
  declare("freeze_zeros_parameters", &O::freeze_zeros_parameters, "PATTERN,...",
          "patterns of the parameters that keep their zeros")
      .When("freeze_zeros", "true");
}

void ContrastOptions::Describe(Declare<ContrastOptions>& declare) {
  declare("method", &ContrastOptions::method, TrainMethodTable,
          "how negatives are made; of several joined by + each row draws one");
  declare("negatives", &ContrastOptions::negatives, "[1, 1000000]", "negatives per row, M");
}

void BatchOptions::Describe(Declare<BatchOptions>& declare) {
  declare("batch_size", &BatchOptions::batch_size, "[1, 1000000]", "rows of one step");
  declare("micro_batch", &BatchOptions::micro_batch, "[0, inf)",
          "rows evaluated at once, when memory is short; 0: the whole batch");
  declare("shards", &BatchOptions::shards, "[1, 4096]",
          "parts of a step whose gradients are summed in a fixed order; as many processes can share a step")
      .Default("1; 8 where several processes train");
  declare("seed", &BatchOptions::seed, "[0, inf)", "of initial parameters, order of the data and noise");
}

void ScheduleOptions::Describe(Declare<ScheduleOptions>& declare) {
  declare("warmup_steps", &ScheduleOptions::warmup_steps, "[0, inf)", "steps of linear warm-up");
  declare("decay", &ScheduleOptions::decay, "constant|linear|cosine",
          "of the learning rate, until the last step");
  declare("final_rate", &ScheduleOptions::final_rate, "[0, 1]",
          "where the decay ends, as a part of the learning rate")
      .When("decay", "linear|cosine");
}

void RunOptions::Describe(Declare<RunOptions>& declare) {
  using O = RunOptions;
  declare("steps", &O::steps, "[1, 1e12]", "steps of the whole run")
      .MayChange()
      .When("epochs", "!*")
      .When("time", "!*");
  declare("epochs", &O::epochs, "(0, 1e9]", "instead of steps: how often the run sees each row")
      .MayChange()
      .When("time", "!*");
  declare(
      "time", &O::time, "TIME",
      "instead of steps: a number and s, m or h, as in 30s, 10m, 2h; after a short trial as many steps as "
      "take about as long")
      .MayChange();
  declare("device", &O::device, "DEVICE", "cpu, cuda, cuda:1, webgpu, auto, ...; `ort-ed devices` lists them")
      .MayChange();
  declare("threads", &O::threads, "[0, 1024]", "0: all cores").MayChange();
  declare("log_every", &O::log_every, "", "steps or seconds (\"10s\") between lines of metrics").MayChange();
  declare("validate_every", &O::validate_every, "", "steps or seconds; 0: never").MayChange();
  declare("patience", &O::patience, "[0, inf)",
          "end after this many validations without a better one; 0: never")
      .MayChange();
  declare("checkpoint_every", &O::checkpoint_every, "", "steps or seconds; 0: only at the end").MayChange();
  declare("keep_checkpoints", &O::keep_checkpoints, "[1, 1000000]", "the newest that are kept").MayChange();
}

void TrainOptions::Describe(Declare<TrainOptions>& declare) {
  using O = TrainOptions;
  declare.Section("data");
  declare.All(&O::data);
  declare.Section("model");
  declare.All(&O::network);
  declare.Section("perturbation");
  declare.All(&O::contrast);
  declare.Section("loss");
  declare("objective", &O::objective, TrainObjectiveTable, "what is minimised");
  declare.All(&O::penalties);
  declare.Section("optimizer");
  declare.All(&O::optimizer);
  declare.All(&O::batch);
  declare.Section("schedule");
  declare.All(&O::schedule);
  declare.Section("run");
  declare.All(&O::run);
}

double TrainOptions::LearningRate(int64_t step) const {
  const double rate = optimizer.learning_rate;
  const int64_t warmup = schedule.warmup_steps;
  if (step <= warmup) return rate * static_cast<double>(step) / static_cast<double>(warmup);
  if (schedule.decay == "constant") return rate;
  // From 0 at the first step after the warm-up to just below 1 at the last: no step is wasted with rate 0.
  const double progress =
      std::min(1.0, static_cast<double>(step - 1 - warmup) / static_cast<double>(run.steps - warmup));
  const double remaining =
      schedule.decay == "linear" ? 1 - progress : (1 + std::cos(std::numbers::pi * progress)) / 2;
  return rate * (schedule.final_rate + (1 - schedule.final_rate) * remaining);
}

double TrainOptions::Progress(int64_t step) const {
  return run.steps == 1
             ? 0
             : std::clamp(static_cast<double>(step - 1) / static_cast<double>(run.steps - 1), 0.0, 1.0);
}

void CheckTogether(const TrainOptions& options) {
  const RunOptions& run = options.run;
  if (!run.time && !run.epochs && options.schedule.warmup_steps > run.steps)
    throw OptionError("warmup_steps", fmt::format("must not exceed steps, {}", run.steps));
  if (options.batch.micro_batch > options.batch.batch_size)
    throw OptionError("micro_batch", fmt::format("must not exceed batch_size, {}", options.batch.batch_size));
  if (options.batch.shards.value_or(1) > options.batch.batch_size)
    throw OptionError("shards", fmt::format("must not exceed batch_size, {}", options.batch.batch_size));
  const DataOptions& data = options.data;
  if (run.patience > 0 &&
      (run.validate_every.never() || (data.validation.empty() && data.validation_fraction == 0)))
    throw OptionError("patience", "counts validations, and there are none");
  if (options.network.IsFile() && !options.network.model.options.empty())
    throw OptionError(options.network.model.options.begin()->first, "has no effect with an .onnx file",
                      OptionError::Problem::kNoEffect);
  for (const auto& [key, path] : {std::pair("data", data.data), std::pair("validation", data.validation),
                                  std::pair("model", options.network.model.kind)})
    if (!IsUtf8(path)) throw OptionError(key, "must be UTF-8, as config.toml is; give the file another name");
  std::error_code unknown;
  if (data.data == "-" || std::filesystem::is_fifo(data.data, unknown))
    throw OptionError(
        "data",
        "must be a file and no pipe: a table is read twice, and all rows are when a training is "
        "resumed; write them to a file first");
}

}  // namespace ort_ed
