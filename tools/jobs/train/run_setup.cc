#include "tools/jobs/train/run_setup.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/architectures/energy_spec.h"
#include "models/base/base_kind.h"
#include "models/graph/model_edits.h"
#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"
#include "runtime/support/version.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/train/export.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

// What Call throws as kInvalidArgument is the fault of the option `key`.
template <typename Call>
decltype(auto) Blame(const char* key, Call&& call) {
  try {
    return call();
  } catch (const OptionError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw OptionError(key, fmt::format("does not fit: {}", error.what()));
  }
}

std::string Absolute(const std::string& path) {
  return path.empty() || path.starts_with("synth:")
             ? path
             : std::filesystem::absolute(path).lexically_normal().string();
}

// Negatives are made for one objective, and mean nothing to another that has methods of its own.
void ResolveObjective(TrainOptions& options) {
  const std::string own = ObjectiveOf(options.contrast.method);
  const std::string& method = options.contrast.method.kind;
  Choice& objective = options.objective;
  if (objective.kind == kAutoObjective) objective.kind = own;
  if (objective.kind != own && IsObjectiveOfMethods(objective.kind))
    throw OptionError("objective", fmt::format("must be {} with method {}, whose negatives are made for it, "
                                               "not {}",
                                               own, method, objective.kind));
  const KindTable table = ObjectiveTable();
  const auto row = std::ranges::find(table.rows, objective.kind, &KindRow::name);
  for (const auto& [key, value] : objective.options)
    if (row->schema->Find(key) == nullptr)
      throw OptionError(
          key, fmt::format("has no effect with `objective` {} of `method` {}", objective.kind, method),
          OptionError::Problem::kNoEffect);
}

// Whether the options of a base are those it has anyway: files written by programs name everything.
bool IsAtDefault(const Choice& base) {
  NetworkOptions given, defaults;
  given.base = base;
  return GetOptions(SchemaOf<NetworkOptions>(), &given) == GetOptions(SchemaOf<NetworkOptions>(), &defaults);
}

TrainOptions Resolve(TrainOptions options) {
  CheckOptions(options);
  CheckTogether(options);
  ResolveObjective(options);
  options.data.data = Absolute(options.data.data);
  options.data.validation = Absolute(options.data.validation);
  NetworkOptions& network = options.network;
  if (network.IsFile()) network.model.kind = Absolute(network.model.kind);
  // The other architectures have fields of their own that do what a base distribution does.
  if (network.base.kind == "auto") {
    const bool useful = network.model.kind == "mlp" || network.model.kind == "resnet";
    if (!useful && !network.base.options.empty() && !IsAtDefault(network.base))
      throw OptionError(network.base.options.begin()->first,
                        fmt::format("has no effect with `model` {}, which gets no base; choose `base` data",
                                    network.model.kind),
                        OptionError::Problem::kNoEffect);
    network.base = useful ? Choice("data", network.base.options) : Choice("none");
  }
  options.run.device = ToString(ParseDevice(options.run.device));
  return options;
}

std::vector<int64_t> ParseImageShape(const std::string& text) {
  if (text.empty()) return {};
  if (const auto shape = ParseShape(text)) return *shape;
  throw OptionError("image_shape", fmt::format("must be a height and a width such as 28x28, not '{}'", text));
}

int64_t WantedColumns(const TrainOptions& options) {
  if (options.data.columns > 0) return options.data.columns;
  const std::vector<int64_t> shape = ParseImageShape(options.network.image_shape);
  return shape.empty() ? 0 : shape[0] * shape[1];
}

onnx::ModelProto BuildNetwork(const TrainOptions& options, const Dataset& dataset) {
  EnergySpec spec;
  spec.architecture = options.network.model;
  spec.dimension = dataset.training->columns();
  spec.image_shape = ParseImageShape(options.network.image_shape);
  spec.seed = static_cast<uint64_t>(options.batch.seed);
  onnx::ModelProto model = Blame("model", [&] { return BuildModel(spec); });
  AttachBase(model, options.network.base, {dataset.mean});
  return model;
}

// A user's model, which may come with metadata of an earlier life.
void AdaptNetwork(onnx::ModelProto& model, const NetworkOptions& network, const Dataset& dataset) {
  RemoveStaleMetadata(model);
  if (const std::vector<int64_t> shape = ParseImageShape(network.image_shape); !shape.empty()) {
    const int64_t variables = dataset.training->columns();
    if (shape[0] * shape[1] != variables)
      throw OptionError("image_shape", fmt::format("must hold the {} variables of the model, not {}",
                                                   variables, shape[0] * shape[1]));
    SetMetadata(model, metadata_key::kImageShape, ShapeText(shape));
  }
  AttachBase(model, network.base, {dataset.mean});
}

uint64_t Seed(const TrainOptions& options) { return static_cast<uint64_t>(options.batch.seed); }

RowContext Rows(const RunSetup& setup, const EnergyContract& contract) {
  const TrainOptions& options = setup.options;
  const std::string known = GetMetadata(setup.model, metadata_key::kImageShape);
  const std::string& given = options.network.image_shape;
  return {.dimension = contract.dimension,
          .image_shape = ParseImageShape(given.empty() ? known : given),
          .mean = setup.dataset.mean,
          .step_negatives = options.batch.batch_size * options.contrast.negatives,
          .threads = options.run.threads,
          .seed = Seed(options),
          .device = ParseDevice(options.run.device)};
}

// An enumeration has the row itself among its negatives: w = 1 would count it twice.
void ChooseStabilisation(RunSetup& setup, Observer& observer) {
  Choice& objective = setup.options.objective;
  if (objective.kind != "energy-discrepancy" || !setup.negatives->enumerates()) return;
  if (!objective.options.contains("w")) objective.options["w"] = 0.0;
  const std::string w =
      FormatOption(ParseOption(OptionType::kNumber, FormatOption(objective.options.at("w"))));
  if (w == "0") return;
  setup.warnings.push_back(
      fmt::format("w = {} counts every row once more than its enumeration does; w = 0 is the exact loss", w));
  observer.OnWarning(setup.warnings.back());
}

// Nothing of the options is left to choose after this.
void ChooseNegatives(RunSetup& setup, const EnergyContract& contract, Observer& observer) {
  setup.negatives = MakeNegatives(setup.options.contrast.method, Rows(setup, contract));
  ChooseStabilisation(setup, observer);
}

// What a sampler will need of the model is tried before anything is written.
void TryEnergy(RunSetup& setup) {
  const NegativeSource::Needs needs = setup.negatives->needs();
  if (!needs.energy) return;
  try {
    setup.learner->CurrentEnergy(needs.gradient);
  } catch (const Error& error) {
    if (!needs.gradient || error.code() != ErrorCode::kBadModel) throw;
    throw OptionError(needs.option, fmt::format("needs the gradient of the energy by the variables, which "
                                                "this model does not have; {}. {}",
                                                needs.instead, error.what()));
  }
}

void MakeLearner(RunSetup& setup, PreparedModel network) {
  const TrainOptions& options = setup.options;
  LearnerOptions learner;
  learner.objective = options.objective;
  if (&setup.negatives->validation() != setup.negatives.get()) {
    const auto shape = setup.negatives->validation().shape(options.contrast.negatives);
    learner.validation = {.batch = {shape.negatives, shape.weighted}};
  }
  learner.penalties = options.penalties;
  learner.optimizer = options.optimizer;
  learner.frozen = options.network.frozen;
  if (options.network.freeze_zeros) learner.freeze_zeros = options.network.freeze_zeros_parameters;
  learner.device = ParseDevice(options.run.device);
  learner.threads = options.run.threads;
  learner.micro_batch = options.batch.micro_batch;
  setup.learner = std::make_unique<Learner>(std::move(network), learner, setup.shape());
  TryEnergy(setup);
}

// The network is ready to be deployed from here on: only its parameters change.
void Complete(RunSetup& setup, const std::string& name, Observer& observer) {
  for (std::string& warning : PrepareForDeployment(setup.model, name)) {
    observer.OnWarning(warning);
    setup.warnings.push_back(std::move(warning));
  }
  const EnergyContract contract = CheckContract(setup.model, name);
  ChooseNegatives(setup, contract, observer);
  MakeLearner(setup, {setup.model, contract});
}

// Of a checkpoint of format 1, which holds only a hash, `before` is empty.
void RequireSame(const std::map<std::string, std::string>& before, const TrainOptions& options) {
  for (const auto& [key, value] : FixedOptions(options)) {
    const auto found = before.find(key);
    if (found != before.end() && found->second != value)
      throw OptionError(
          key, fmt::format("was '{}' when the run began and is '{}' now; only the section [run] and the "
                           "place of the data may change",
                           found->second, value));
  }
}

}  // namespace

BatchShape RunSetup::shape() const {
  const NegativeSource::Shape shape = negatives->shape(options.contrast.negatives);
  return {shape.negatives, shape.weighted};
}

RunSetup SetUp(const TrainOptions& given, Observer& observer) {
  RunSetup setup;
  setup.options = Resolve(given);
  const std::string& path = setup.options.network.model.kind;
  if (!setup.options.network.IsFile()) {
    Dataset dataset =
        OpenDataset(setup.options.data, Seed(setup.options), WantedColumns(setup.options), observer);
    return SetUp(given, std::move(dataset), observer);
  }
  const LoadedModel loaded(path);
  setup.dataset = OpenDataset(setup.options.data, Seed(setup.options), loaded.dimension(), observer);
  PreparedModel prepared =
      Prepare(loaded.proto(), path);  // what is trained and what is deployed are one graph
  setup.model = std::move(prepared.model);
  AdaptNetwork(setup.model, setup.options.network, setup.dataset);
  Complete(setup, path, observer);
  return setup;
}

RunSetup SetUp(const TrainOptions& given, Dataset dataset, Observer& observer) {
  RunSetup setup;
  setup.options = Resolve(given);
  setup.dataset = std::move(dataset);
  const std::string& name = setup.options.network.model.kind;
  onnx::ModelProto model =
      setup.options.network.IsFile() ? LoadedModel(name).proto() : BuildNetwork(setup.options, setup.dataset);
  PreparedModel prepared = Prepare(std::move(model), name);
  if (const int64_t columns = setup.dataset.training->columns(); prepared.contract.dimension != columns)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: the model has {} variables, but the rows have {}", name,
                            prepared.contract.dimension, columns));
  setup.model = std::move(prepared.model);
  if (setup.options.network.IsFile()) AdaptNetwork(setup.model, setup.options.network, setup.dataset);
  Complete(setup, name, observer);
  return setup;
}

RunSetup SetUp(const TrainOptions& given, const Checkpoint& checkpoint, Observer& observer) {
  RunSetup setup;
  setup.options = Resolve(given);
  PreparedModel network = Prepare(RestoreModel(checkpoint, Weights::kRaw), "the model of the checkpoint");
  setup.model = network.model;
  ChooseNegatives(setup, network.contract, observer);
  RequireSame(checkpoint.configuration, setup.options);  // another seed may give other data, too
  setup.dataset = OpenDataset(setup.options.data, Seed(setup.options), network.contract.dimension, observer);
  if (setup.dataset.hash != checkpoint.data) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}' is not the data that the run was trained on so far ({}, now {}); restore it, or start "
            "a new run",
            setup.options.data.data, checkpoint.data, setup.dataset.hash));
  }
  setup.negatives =
      MakeNegatives(setup.options.contrast.method, Rows(setup, network.contract));  // of the data
  MakeLearner(setup, std::move(network));
  setup.learner->WriteState(checkpoint.SelectTensors("energy"));
  setup.negatives->Load(checkpoint.SelectTensors("negatives"));
  return setup;
}

std::map<std::string, std::string> FixedOptions(const TrainOptions& options) {
  const Schema& schema = SchemaOf<TrainOptions>();
  std::map<std::string, std::string> fixed;
  for (const auto& [key, value] : GetOptions(schema, &options)) {
    const Option* option = schema.Find(key);
    if (option == nullptr || !option->may_change) fixed[key] = FormatOption(value);
  }
  return fixed;
}

std::string DescribeTraining(const RunSetup& setup, int64_t step) {
  const TrainOptions& options = setup.options;
  const OptionMap chosen = GetOptions(SchemaOf<TrainOptions>(), &options);
  const bool is_file = !options.data.data.starts_with("synth:");
  nlohmann::ordered_json json = {
      {"program", std::string("ort-ed ") + kVersion},
      {"onnxruntime", OnnxRuntimeVersion()},
      {"method", options.contrast.method.kind},
      {"steps", step},
      {"data", is_file ? std::filesystem::path(options.data.data).filename().string() : options.data.data},
      {"data_hash", setup.dataset.hash},
      {"seed", options.batch.seed},
      {"negatives", setup.shape().negatives},
      {"objective", options.objective.kind},
      {"optimizer", FormatOption(chosen.at("optimizer"))},
      {"learning_rate", options.optimizer.learning_rate},
      {"batch_size", options.batch.batch_size},
      {"ema", options.optimizer.ema},
  };
  const auto add = [&](const std::string& key, const OptionValue& value) {
    std::visit(
        [&](const auto& each) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, std::monostate>) json[key] = each;
        },
        value);
  };
  for (const char* key : {"w", "energy_l2", "ratio_clip"})
    if (const auto found = chosen.find(key); found != chosen.end()) add(key, found->second);
  for (const auto& [key, value] : setup.negatives->Describe(options.Progress(step))) add(key, value);
  return json.dump();
}

}  // namespace ort_ed
