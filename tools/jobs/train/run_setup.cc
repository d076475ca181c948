#include "tools/jobs/train/run_setup.h"

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "models/architectures/architectures.h"
#include "models/architectures/energy_spec.h"
#include "models/base/base_distribution.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "tools/jobs/train/export.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

bool IsModelFile(const std::string& model) { return model.ends_with(".onnx"); }

// What Call throws as kInvalidArgument is the fault of the setting `key`: adds where it was given.
template <typename Call>
decltype(auto) Blaming(const TrainConfig& config, const char* key, Call&& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    config.Reject(key, error.what());
  }
}

std::string Absolute(const std::string& path) {
  return path.empty() || path.starts_with("synth:")
             ? path
             : std::filesystem::absolute(path).lexically_normal().string();
}

TrainConfig Resolved(TrainConfig config) {
  config.Validate();
  config.data = Absolute(config.data);
  config.validation = Absolute(config.validation);
  if (IsModelFile(config.model)) {
    config.model = Absolute(config.model);
    if (!config.model_options.empty()) config.Reject("model_options", "an .onnx file has no options");
  } else {
    Blaming(config, "model", [&] { FindArchitecture(config.model); });
  }
  // The other architectures have fields of their own that do what a base distribution does.
  if (config.base == "auto")
    config.base = config.model == "mlp" || config.model == "resnet" ? "data" : "none";
  // An enumeration has the row itself among its negatives: w = 1 would count it twice.
  if (config.OnlyEnumerates() && !config.origin.contains("w")) config.w = 0;
  if (config.OnlyEnumerates() && config.w != 0)
    spdlog::warn("w = {} counts every row once more than its enumeration does; w = 0 is the exact loss",
                 config.w);
  config.device = ToString(ParseDevice(config.device));
  return config;
}

std::vector<int64_t> ImageShape(const TrainConfig& config) {
  if (config.image_shape.empty()) return {};
  return Blaming(config, "image_shape", [&] { return ParseImageShape(config.image_shape); });
}

std::vector<int64_t> ImageShape(const TrainConfig& config, const onnx::ModelProto& model) {
  const std::string known = GetMetadata(model, metadata_key::kImageShape);
  return config.image_shape.empty() && !known.empty() ? ParseImageShape(known) : ImageShape(config);
}

int64_t Columns(const TrainConfig& config) {
  if (config.columns > 0) return config.columns;
  const std::vector<int64_t> shape = ImageShape(config);
  return shape.empty() ? 0 : shape[0] * shape[1];
}

std::vector<float> BaseMean(const TrainConfig& config, const Dataset& dataset) {
  return config.base == "data" ? SmoothedMean(dataset.mean, config.base_smoothing) : std::vector<float>();
}

onnx::ModelProto BuiltIn(const TrainConfig& config, const Dataset& dataset) {
  EnergySpec spec;
  spec.architecture = config.model;
  spec.options = config.model_options;
  spec.dimension = dataset.training->columns();
  spec.image_shape = ImageShape(config);
  spec.base_mean = BaseMean(config, dataset);
  spec.seed = static_cast<uint64_t>(config.seed);
  return Blaming(config, config.model_options.empty() ? "model" : "model_options",
                 [&] { return BuildModel(spec); });
}

void PrepareForTraining(onnx::ModelProto& model, const TrainConfig& config, const Dataset& dataset) {
  PrepareForDifferentiation(model);  // so that what is trained and what is deployed are one graph
  RemoveStaleMetadata(model);
  if (!config.image_shape.empty()) {
    const std::vector<int64_t> shape = ImageShape(config);
    const int64_t variables = dataset.training->columns();
    if (shape[0] * shape[1] != variables)
      config.Reject("image_shape",
                    fmt::format("the model has {} variables, not {}", variables, shape[0] * shape[1]));
    SetMetadata(model, metadata_key::kImageShape, fmt::format("{}x{}", shape[0], shape[1]));
  }
  if (config.base == "data")
    Blaming(config, "base", [&] { AddBaseDistribution(model, BaseMean(config, dataset)); });
}

TrainingSpec SpecOf(const TrainConfig& config, const Perturbation& perturbation) {
  TrainingSpec spec;
  spec.loss.stabilisation = config.w;
  spec.loss.negatives = perturbation.NegativesPerRow(config.negatives);
  spec.loss.weighted = perturbation.Weighted();
  spec.frozen = config.frozen;
  if (config.freeze_zeros) spec.fixed_zeros = config.freeze_zeros_parameters;
  OptimizerSpec& optimizer = spec.optimizer;
  optimizer.kind = config.optimizer == "adamw" ? OptimizerKind::kAdamW
                   : config.optimizer == "sgd" ? OptimizerKind::kSgd
                                               : OptimizerKind::kAdam;
  optimizer.beta1 = config.beta1;
  optimizer.beta2 = config.beta2;
  optimizer.epsilon = config.adam_epsilon;
  optimizer.momentum = config.momentum;
  optimizer.weight_decay = config.weight_decay;
  optimizer.weight_decay_parameters = config.weight_decay_parameters;
  optimizer.l1 = config.l1;
  optimizer.l1_form = config.l1_form == "proximal" ? L1Form::kProximal : L1Form::kSubgradient;
  optimizer.l1_parameters = config.l1_parameters;
  optimizer.clip_norm = config.clip;
  optimizer.ema_decay = config.ema;
  return spec;
}

void MakeStep(RunSetup& setup) {
  const TrainConfig& config = setup.config;
  setup.perturbation = PerturbationOf(setup, config.steps);
  LearnerOptions options;
  options.device = ParseDevice(config.device);
  options.threads = static_cast<int>(config.threads);
  options.micro_batch = config.micro_batch;
  setup.step = std::make_unique<Learner>(setup.model, SpecOf(config, *setup.perturbation), options);
}

}  // namespace

RunSetup SetUp(TrainConfig config, const SynthHook& synth) {
  RunSetup setup;
  setup.config = Resolved(std::move(config));
  const std::string& path = setup.config.model;
  if (IsModelFile(path)) {
    EnergyModel::FromFile(path);  // what could not be deployed is not trained
    setup.model = LoadModel(path);
    setup.dataset = OpenDataset(setup.config, CheckContract(setup.model, path).dimension, synth);
  } else {
    setup.dataset = OpenDataset(setup.config, Columns(setup.config), synth);
    setup.model = BuiltIn(setup.config, setup.dataset);
  }
  if (IsModelFile(path)) PrepareForTraining(setup.model, setup.config, setup.dataset);
  PrepareForDeployment(setup.model,
                       path);  // what is wrong with it shows now; from here on only the parameters change
  MakeStep(setup);
  return setup;
}

RunSetup SetUp(TrainConfig config, const Checkpoint& checkpoint, const SynthHook& synth) {
  RunSetup setup;
  setup.config = Resolved(std::move(config));
  if (setup.config.Hash() != checkpoint.configuration) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the configuration is not the one that the checkpoint was made with; only the section [run] and the "
        "place of the data may change");
  }
  setup.model = RestoreModel(checkpoint, Weights::kRaw);
  const int64_t dimension = CheckContract(setup.model, "the model of the checkpoint").dimension;
  setup.dataset = OpenDataset(setup.config, dimension, synth);
  if (setup.dataset.hash != checkpoint.data) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}' is not the data that the run was trained on so far ({}, now {}); restore it, or start "
            "a new run",
            setup.config.data, checkpoint.data, setup.dataset.hash));
  }
  MakeStep(setup);
  setup.step->WriteState(checkpoint.state);
  return setup;
}

std::unique_ptr<Perturbation> PerturbationOf(const RunSetup& setup, int64_t step) {
  const TrainConfig& config = setup.config;
  PerturbationOptions options;
  options.dimension = setup.dataset.training->columns();
  options.epsilon = config.Epsilon(step);
  options.image_shape = ImageShape(config, setup.model);
  if (!config.window.empty()) {
    const bool is_line = config.window.find('x') == std::string::npos;
    options.window = Blaming(config, "window",
                             [&] { return ParseImageShape(is_line ? config.window + "x1" : config.window); });
  }
  options.block = config.block;
  options.exact = config.exact;
  options.moves = config.moves;
  options.stay = config.stay;
  return Blaming(config, "method", [&] { return MakePerturbation(config.method, options); });
}

std::string DescribeTraining(const RunSetup& setup, int64_t step) {
  const TrainConfig& config = setup.config;
  nlohmann::ordered_json json = {
      {"program", "ort-ed " ORT_ED_VERSION},
      {"onnxruntime", OnnxRuntimeVersion()},
      {"method", config.method},
      {"steps", step},
      {"data", config.data},
      {"data_hash", setup.dataset.hash},
      {"seed", config.seed},
      {"negatives", setup.perturbation->NegativesPerRow(config.negatives)},
      {"w", config.w},
      {"optimizer", config.optimizer},
      {"learning_rate", config.learning_rate},
      {"batch_size", config.batch_size},
      {"ema", config.ema},
  };
  for (const std::string& method : config.Methods()) {
    if (method == "bernoulli") json["epsilon"] = config.Epsilon(step);
    if (method == "pool") json["window"] = config.window;
  }
  return json.dump();
}

}  // namespace ort_ed
