// The table of hyper-parameters.

#include <spdlog/fmt/ranges.h>

#include "models/architectures/architectures.h"
#include "tools/jobs/train/train_config.h"
#include "trainer/negatives/perturbation.h"

namespace ort_ed {
namespace {

std::string MethodNames() {
  Words names;
  for (const PerturbationKind* entry : Perturbations()) names.emplace_back(entry->name);
  return fmt::format("{}[+...]", fmt::join(names, "|"));
}

std::vector<Setting> MakeSettings() {
  using C = TrainConfig;
  return {
      {"data", "data", &C::data, "FILE",
       "rows to train on: .npy, .bits.npy, .csv, .tsv, .idx, each also .gz, or synth:NAME"},
      {"data", "validation", &C::validation, "FILE",
       "rows to validate on; else a part of the data is held out"},
      {"data", "validation_fraction", &C::validation_fraction, "[0, 1)",
       "part of the data held out; 0: none"},
      {"data", "validation_rows", &C::validation_rows, "[1, 1000000]", "rows of one validation, at most"},
      {"data", "binarise", &C::binarise, "strict|threshold|once|dynamic",
       "values that are not 0 or 1: refused, cut at the threshold, drawn once, or drawn anew at every use"},
      {"data", "threshold", &C::threshold, "[0, 1]", "for binarise = threshold"},
      {"data", "columns", &C::columns, "[0, 1000000000]",
       "variables of a row, for packed bits; 0: as the file says"},

      {"model", "model", &C::model, "MODEL",
       "an architecture of `ort-ed new`, or an .onnx file to start from"},
      {"model", "model_options", &C::model_options, "",
       "of the architecture, such as { hidden = \"256,256\" }"},
      {"model", "image_shape", &C::image_shape, "HxW",
       "height x width where the variables form an image, e.g. 28x28"},
      {"model", "base", &C::base, "auto|data|none",
       "Bernoulli base distribution with the mean of the data; auto: for mlp and resnet"},
      {"model", "base_smoothing", &C::base_smoothing, "(0, 0.5]",
       "keeps the base's mean off 0 and 1 by this much"},
      {"model", "frozen", &C::frozen, "PATTERN,...", "patterns of parameters that are not trained"},
      {"model", "freeze_zeros", &C::freeze_zeros, "",
       "entries of parameters that are exactly 0 in the initial model stay 0"},
      {"model", "freeze_zeros_parameters", &C::freeze_zeros_parameters, "PATTERN,...",
       "patterns of the parameters that keep their zeros"},

      {"perturbation", "method", &C::method, MethodNames(),
       "how negatives are made; of several each row draws one"},
      {"perturbation", "negatives", &C::negatives, "[1, 1000000]", "negatives of each row, M"},
      {"perturbation", "epsilon", &C::epsilon, "(0, 1)",
       "bernoulli: probability that a bit flips; of several each row draws one"},
      {"perturbation", "epsilon_end", &C::epsilon_end, "(0, 1)",
       "bernoulli: what epsilon becomes until the last step, by equal factors; none: it stays"},
      {"perturbation", "window", &C::window, "HxW", "pool: h x w, or h; empty: the whole row"},
      {"perturbation", "block", &C::block, "[1, 20]", "erase: variables erased at once"},
      {"perturbation", "exact", &C::exact, "",
       "grid, neighbourhood, erase: all negatives instead of M drawn ones"},
      {"perturbation", "moves", &C::moves, "MOVES",
       "neighbourhood: up, down, both, or one of + - * . for each variable"},
      {"perturbation", "stay", &C::stay, "", "neighbourhood: a state is its own neighbour"},

      {"loss", "w", &C::w, "[0, inf)",
       "stabilisation of the loss; unless given, 0 where `exact` has the row among its negatives"},
      {"loss", "l1", &C::l1, "[0, inf)", "penalty l1 * sum |parameter|"},
      {"loss", "l1_form", &C::l1_form, "proximal|subgradient", "proximal makes zeros exact"},
      {"loss", "l1_parameters", &C::l1_parameters, "PATTERN,...",
       "patterns of the parameters with an l1 penalty"},
      {"loss", "weight_decay", &C::weight_decay, "[0, inf)", "decoupled for adamw, else in the gradient"},
      {"loss", "weight_decay_parameters", &C::weight_decay_parameters, "PATTERN,...",
       "patterns of the parameters that decay"},

      {"optimizer", "optimizer", &C::optimizer, "adam|adamw|sgd", ""},
      {"optimizer", "learning_rate", &C::learning_rate, "(0, inf)", ""},
      {"optimizer", "batch_size", &C::batch_size, "[1, 1000000]", "rows of one step"},
      {"optimizer", "micro_batch", &C::micro_batch, "[0, inf)",
       "rows evaluated at once, when memory is short; 0: the whole batch"},
      {"optimizer", "clip", &C::clip, "[0, inf)", "largest norm of the gradient; 0: no limit"},
      {"optimizer", "ema", &C::ema, "[0, 1)", "decay of the moving average of the parameters; 0: none"},
      {"optimizer", "beta1", &C::beta1, "[0, 1)", "adam, adamw"},
      {"optimizer", "beta2", &C::beta2, "[0, 1)", "adam, adamw"},
      {"optimizer", "adam_epsilon", &C::adam_epsilon, "(0, inf)", "adam, adamw"},
      {"optimizer", "momentum", &C::momentum, "[0, 1)", "sgd"},
      {"optimizer", "seed", &C::seed, "[0, inf)", "of initial parameters, order of the data and noise"},

      {"schedule", "warmup_steps", &C::warmup_steps, "[0, inf)", "steps of linear warm-up"},
      {"schedule", "decay", &C::decay, "constant|linear|cosine", "of the learning rate, until the last step"},
      {"schedule", "final_rate", &C::final_rate, "[0, 1]",
       "where the decay ends, as a part of the learning rate"},

      {kRunSection, "steps", &C::steps, "[1, 1e12]", "steps of the whole run"},
      {kRunSection, "device", &C::device, "DEVICE",
       "cpu, cuda, cuda:1, auto, ...; `ort-ed devices` lists them"},
      {kRunSection, "threads", &C::threads, "[0, 1024]", "0: all cores"},
      {kRunSection, "log_every", &C::log_every, "", "steps or seconds (\"10s\") between lines of metrics"},
      {kRunSection, "validate_every", &C::validate_every, "", "steps or seconds; 0: never"},
      {kRunSection, "patience", &C::patience, "[0, inf)",
       "end after this many validations without a lower loss; 0: never"},
      {kRunSection, "checkpoint_every", &C::checkpoint_every, "", "steps or seconds; 0: only at the end"},
      {kRunSection, "keep_checkpoints", &C::keep_checkpoints, "[1, 1000000]", "the newest that are kept"},
  };
}

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = MakeSettings();
  return settings;
}

}  // namespace ort_ed
