#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ort_ed/options.h"

namespace ort_ed {

using Words = std::vector<std::string>;
using Numbers = std::vector<double>;
using Assignments = std::map<std::string, std::string>;

// Everything one can choose about a training. Sections, names, domains and explanations: Settings().
struct TrainConfig {
  std::string data;
  std::string validation;
  double validation_fraction = 0.1;
  int64_t validation_rows = 1000;
  std::string binarise = "strict";
  double threshold = 0.5;
  int64_t columns = 0;

  std::string model = "mlp";
  Assignments model_options;
  std::string image_shape;
  std::string base = "auto";
  double base_smoothing = 0.01;
  Words frozen;
  bool freeze_zeros = false;
  Words freeze_zeros_parameters = {"*"};

  std::string method = "bernoulli";
  int64_t negatives = 4;
  Numbers epsilon = {0.1};
  Numbers epsilon_end;
  std::string window;
  int64_t block = 1;
  bool exact = false;
  std::string moves = "up";
  bool stay = true;

  double w = 1;
  double l1 = 0;
  std::string l1_form = "proximal";
  Words l1_parameters = {"*"};
  double weight_decay = 0;
  Words weight_decay_parameters = {"*"};

  std::string optimizer = "adam";
  double learning_rate = 2e-3;
  int64_t batch_size = 256;
  int64_t micro_batch = 0;
  double clip = 5;
  double ema = 0.999;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double momentum = 0.9;
  int64_t seed = 0;

  int64_t warmup_steps = 0;
  std::string decay = "cosine";
  double final_rate = 0;

  int64_t steps = 10000;
  std::string device = "cpu";
  int64_t threads = 0;
  Period log_every = {.steps = 50};
  Period validate_every = {.steps = 500};
  int64_t patience = 0;
  Period checkpoint_every = {.seconds = 60};
  int64_t keep_checkpoints = 3;

  // Where a setting was given, "run.toml:12" or "--epsilon", by key; for messages only.
  std::map<std::string, std::string> origin;

  // Throws kInvalidArgument for settings that contradict one another.
  void Validate() const;

  // The configuration as a TOML file that ReadConfig() reads back to the same values.
  std::string ToToml() const;

  // Hash of every setting that may not change when a run is resumed.
  std::string Hash() const;

  // The learning rate of a step, which counts from 1: linear warm-up, then constant or decay until `steps`.
  double LearningRate(int64_t step) const;

  // The noise levels of a step, which counts from 1: from `epsilon` at the first step to `epsilon_end`, if
  // there is one, at the last, by equal factors.
  Numbers Epsilon(int64_t step) const;

  // The names that `method` joins.
  Words Methods() const;

  // Whether `exact` leaves no method that draws its negatives.
  bool OnlyEnumerates() const;

  // Throws kInvalidArgument "run.toml:12: epsilon = 0.7: <reason>", or "--epsilon = 0.7: ...".
  [[noreturn]] void Reject(const std::string& key, const std::string& reason) const;
};

using SettingMember = std::variant<std::string TrainConfig::*, int64_t TrainConfig::*, double TrainConfig::*,
                                   bool TrainConfig::*, Period TrainConfig::*, Words TrainConfig::*,
                                   Numbers TrainConfig::*, Assignments TrainConfig::*>;

// One hyper-parameter: a key of the TOML file and an option of the command. A new one is a member of
// TrainConfig and a row of the table.
struct Setting {
  const char* section;
  const char* key;  // learning_rate in the file, --learning-rate on the command line
  SettingMember member;
  // Numbers: an interval such as "(0, 1]". Text: the choices "adam|adamw|sgd", with "[+...]" behind them
  // where several may be joined, or what to write, "FILE".
  std::string domain;
  const char* help;

  std::string OptionName() const;
  std::string NegatedOptionName() const;  // --no-exact
  std::string HelpText() const;           // with default
  std::string Metavar() const;            // what to write behind the option
  bool IsFlag() const { return std::holds_alternative<bool TrainConfig::*>(member); }
  // Those of [run], and where the data lies: its content is compared, not its path.
  bool MayChangeOnResume() const;
  // Given by the options of the architectures (--hidden 256,256), not by one of its own.
  bool IsModelOptions() const { return std::holds_alternative<Assignments TrainConfig::*>(member); }
};

inline constexpr char kRunSection[] = "run";

const std::vector<Setting>& Settings();

// Sets from the text of a command-line option and notes the option as its origin. Throws kInvalidArgument
// (see Reject()) if the text is not of the setting's type or domain.
void SetFromOption(TrainConfig& config, const Setting& setting, const std::string& text);

// Reads settings from a TOML file over those of `config`. Throws kIo; kInvalidArgument with file and line for
// bad syntax, an unknown section or key (the message lists the candidates), a wrong type, a value outside its
// domain.
void ReadConfig(const std::string& path, TrainConfig& config);

}  // namespace ort_ed
