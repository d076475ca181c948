#include "tools/jobs/train/run_setup.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/architectures/energy_spec.h"
#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "models/base/base_kind.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/data/table/table_reader.h"
#include "runtime/data/table/table_writer.h"
#include "runtime/support/text.h"
#include "runtime/support/version.h"
#include "tools/jobs/digest.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/log_z/normalised_form.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/base_phase.h"
#include "tools/jobs/train/learned_base/choose_base.h"
#include "tools/jobs/train/learning/open_masses.h"
#include "tools/jobs/train/steps/plan_steps.h"
#include "trainer/autodiff/blind_spots.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/negatives/likelihood.h"

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

// Methods whose negatives are drawn by a learned base.
bool NeedsLearnedBase(const Choice& method) { return method.kind == "refill" || method.kind == "draws"; }

// Where the method is known.
void ResolveBase(TrainOptions& options) {
  NetworkOptions& network = options.network;
  // The other architectures have fields of their own that do what a base distribution does.
  const bool needs_base = !network.IsFile() && network.model.kind != "made";
  if (network.base.kind == "auto" && NeedsLearnedBase(options.contrast.method) && needs_base &&
      network.base.options.empty())
    network.base = "made";
  if (network.base.kind == "auto") {
    const bool useful = network.model.kind == "mlp" || network.model.kind == "resnet";
    if (!useful && !network.base.options.empty() && !IsAtDefault(network.base))
      throw OptionError(network.base.options.begin()->first,
                        fmt::format("has no effect with `model` {}, which gets no base; choose `base` data",
                                    network.model.kind),
                        OptionError::Problem::kNoEffect);
    network.base = useful ? Choice("data", network.base.options) : Choice("none");
  }
}

TrainOptions Resolve(TrainOptions options) {
  CheckOptions(options);
  CheckTogether(options);
  ChooseBaseByOptions(options.network.base);
  Choice& method = options.contrast.method;
  if (method.kind == kAutoMethod && !method.options.empty()) method.kind = kNoiseMethod;
  if (method.kind == kAutoMethod && options.network.model.kind == "made") method = "likelihood";
  // Noise gives itself away on a base that knows the data.
  const Choice& base = options.network.base;
  if (method.kind == kAutoMethod && (IsLearnedHere(base) || IsBaseFile(base))) method = "draws";
  if (method.kind != kAutoMethod) ResolveObjective(options);
  options.data.data = Absolute(options.data.data);
  options.data.validation = Absolute(options.data.validation);
  options.data.table.variables = Absolute(options.data.table.variables);
  NetworkOptions& network = options.network;
  if (network.IsFile()) network.model.kind = Absolute(network.model.kind);
  if (IsBaseFile(network.base)) network.base.kind = Absolute(network.base.kind);
  if (method.kind != kAutoMethod) ResolveBase(options);
  options.run.device = ToString(ParseDevice(options.run.device));
  return options;
}

int64_t WantedColumns(const TrainOptions& options) {
  if (const int64_t width = options.data.table.Width(); width > 0) return width;
  const std::vector<int64_t> shape = ParseImageShape(options.network.image_shape);
  return shape.empty() ? 0 : shape[0] * shape[1];
}

void NoteVariables(onnx::ModelProto& model, const Variables& variables) {
  if (variables.described()) SetMetadata(model, metadata_key::kVariables, FormatVariables(variables));
}

// How the table is separated, for tables that are written.
void NoteSeparator(onnx::ModelProto& model, const DataOptions& data) {
  if (data.data.empty() || data.data.starts_with("synth:")) return;
  InputStream stream(data.data);
  if (!IsText(stream)) return;
  TableReader table(std::move(stream));
  if (table.Next() && table.separator() != ',')
    SetMetadata(model, kSeparatorKey, std::string(1, table.separator()));
}

onnx::ModelProto BuildNetwork(const TrainOptions& options, const Dataset& dataset) {
  EnergySpec spec;
  spec.architecture = options.network.model;
  spec.dimension = dataset.training->columns();
  spec.variables = dataset.variables;
  spec.image_shape = ParseImageShape(options.network.image_shape);
  spec.seed = static_cast<uint64_t>(options.batch.seed);
  return Blame("model", [&] { return BuildModel(spec); });
}

// A user's model, which may come with metadata of an earlier life.
void AdaptMetadata(onnx::ModelProto& model, const NetworkOptions& network, int64_t dimension) {
  RemoveStaleMetadata(model);
  const std::vector<int64_t> shape = ParseImageShape(network.image_shape);
  if (shape.empty()) return;
  if (shape[0] * shape[1] != dimension)
    throw OptionError("image_shape", fmt::format("must hold the {} variables of the model, not {}", dimension,
                                                 shape[0] * shape[1]));
  SetMetadata(model, metadata_key::kImageShape, ShapeText(shape));
}

uint64_t Seed(const TrainOptions& options) { return static_cast<uint64_t>(options.batch.seed); }

RowContext Rows(const RunSetup& setup, const EnergyContract& contract) {
  const TrainOptions& options = setup.options;
  const std::string known = GetMetadata(setup.model, metadata_key::kImageShape);
  const std::string& given = options.network.image_shape;
  return {.dimension = contract.dimension,
          .variables = GetVariables(setup.model, contract.dimension),
          .image_shape = ParseImageShape(given.empty() ? known : given),
          .mean = setup.dataset->mean,
          .base = setup.base,
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

// Of a wide row 0.1 flips so many bits that every negative gives itself away, and nothing is learned: some
// rows change in one or two variables, which teaches details, others in a few more.
void ChooseNoise(RunSetup& setup, int64_t dimension, Observer& observer) {
  constexpr int64_t kNarrow = 32;
  constexpr double kFewFlips = 1.5, kMoreFlips = 6;
  Choice& method = setup.options.contrast.method;
  if (dimension <= kNarrow || method.kind != "bernoulli" || method.options.contains("epsilon") ||
      method.options.contains("epsilon_end"))
    return;
  const auto width = static_cast<double>(dimension);
  const std::vector<double> levels = {kFewFlips / width, std::min(0.1, kMoreFlips / width)};
  method.options.insert_or_assign("epsilon", levels);
  observer.OnNotice(fmt::format("epsilon is {:.4g} or {:.4g}: about {} or {} flips in a row of {}", levels[0],
                                levels[1], kFewFlips, kMoreFlips, dimension));
}

void ChooseMethodByData(RunSetup& setup, Observer& observer) {
  Choice& method = setup.options.contrast.method;
  const Variables& variables = setup.dataset->variables;
  if (const auto base = ChooseLearnedBase(setup.options.network, *setup.dataset)) {
    setup.options.network.base = *base;
    method = "draws";
    observer.OnNotice(
        "a base is learned first, and the network on it, since noise alone teaches little where rows have so "
        "many states or are so few (base made, whose length is base_steps; method draws)");
  } else if (variables.all_binary()) {
    method = kNoiseMethod;
  } else {
    method = MethodForCategories(variables);
    observer.OnNotice(fmt::format("the method is {}, which changes whole variables", method.kind));
  }
  ResolveObjective(setup.options);
  ResolveBase(setup.options);
}

// Method and base, where nothing was said of them.
void ChooseMethod(RunSetup& setup, Observer& observer) {
  if (setup.options.contrast.method.kind == kAutoMethod) ChooseMethodByData(setup, observer);
  if (IsLearnedHere(setup.options.network.base) && !setup.options.run.time)
    ResolveBaseSteps(setup.options, *setup.dataset);
}

// Nothing of the options is left to choose after this.
void ChooseNegatives(RunSetup& setup, const EnergyContract& contract, Observer& observer) {
  ChooseNoise(setup, contract.dimension, observer);
  setup.negatives = MakeNegatives(setup.options.contrast.method, Rows(setup, contract));
  ChooseStabilisation(setup, observer);
  if (!setup.dataset->variables.all_binary()) return;  // more states than two connect all
  if (std::string open = DescribeOpenMasses(setup.options.contrast.method); !open.empty()) {
    observer.OnWarning(open);
    setup.warnings.push_back(std::move(open));
  }
}

void RequireWholeGradient(const RunSetup& setup, const NegativeSource::Needs& needs) {
  if (!needs.of_all) return;
  if (const std::vector<BlindSpot> spots = FindBlindSpots(setup.model); !spots.empty())
    throw OptionError(needs.option, fmt::format("follows the gradient of the energy, which would be noise: "
                                                "{}; {}",
                                                DescribeBlindSpots(spots), needs.instead));
}

// What a sampler will need of the model is tried before anything is written.
void TryEnergy(RunSetup& setup) {
  const NegativeSource::Needs needs = setup.negatives->needs();
  if (!needs.energy) return;
  RequireWholeGradient(setup, needs);
  try {
    setup.learner->CurrentEnergy(needs.gradient);
  } catch (const Error& error) {
    if (!needs.gradient || error.code() != ErrorCode::kBadModel) throw;
    throw OptionError(needs.option, fmt::format("needs the gradient of the energy by the variables, which "
                                                "this model does not have; {}. {}",
                                                needs.instead, error.what()));
  }
}

// Units that are left out are those of the network that maximum likelihood trains.
DropoutOptions Dropout(const RunSetup& setup) {
  const Choice& method = setup.options.contrast.method;
  if (method.kind != "likelihood") return {};
  const auto rates = MakeOptions<LikelihoodOptions>(method.options);
  DropoutOptions dropout{.layers = {}, .seed = static_cast<uint64_t>(setup.options.batch.seed)};
  if (rates.dropout > 0)
    for (const auto& [tensor, units] : HiddenLayers(setup.model))
      dropout.layers.push_back({tensor, units, rates.dropout});
  if (rates.view_dropout == 0) return dropout;
  const std::vector<HiddenLayer> blocks = ViewBlocks(setup.model);
  if (blocks.empty())
    throw OptionError("view_dropout", "has no effect without a `view` with blocks",
                      OptionError::Problem::kNoEffect);
  for (const auto& [tensor, units] : blocks)
    dropout.layers.push_back({tensor, units, rates.view_dropout, /*of_images=*/true});
  return dropout;
}

void RequireNormalised(const RunSetup& setup) {
  if (setup.options.objective.kind != "likelihood" || IsNormalised(setup.model)) return;
  throw OptionError("method", fmt::format("likelihood needs a normalised model, such as `model` made; {} is "
                                          "trained by another method",
                                          setup.options.network.model.kind));
}

void MakeLearner(RunSetup& setup, PreparedModel network) {
  setup.learner = std::make_unique<Learner>(std::move(network), MakeLearnerOptions(setup), setup.shape());
  TryEnergy(setup);
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

// How many processes train does not decide how a step is cut, or else its result would.
void ResolveShards(RunSetup& setup, const Checkpoint* checkpoint) {
  constexpr int64_t kOfSeveral = 8;
  BatchOptions& batch = setup.options.batch;
  const int size = setup.processes->size();
  if (checkpoint == nullptr && !batch.shards && size > 1)
    batch.shards = std::min(kOfSeveral, batch.batch_size);
  const int64_t shards = batch.shards.value_or(1);
  if (size <= shards) return;
  throw OptionError("shards", checkpoint == nullptr
                                  ? fmt::format("must be {} or more, a part of each step for each process, "
                                                "not {}; or start fewer processes",
                                                size, shards)
                                  : fmt::format("of this run is {}, and a process needs a part of each step: "
                                                "go on with {} processes at most, not {}",
                                                shards, shards, size));
}

// That the processes have the same before them.
void RequireSameSetup(const RunSetup& setup) {
  if (setup.processes->size() == 1) return;
  TrainOptions shared = setup.options;
  shared.run.device = ParseDevice(shared.run.device).provider;  // each may have one of its own
  RequireAgreement(*setup.processes, "settings", ComputeDigest(WriteToml(shared)));
  RequireAgreement(*setup.processes, "data", setup.dataset->hash);
  RequireAgreement(*setup.processes, "model to start from", ComputeDigest(SerializeModel(setup.model)));
}

// Epochs of the data that is open become steps.
void ResolveEpochs(RunSetup& setup, Observer& observer) {
  RunOptions& run = setup.options.run;
  if (!run.epochs) return;
  if (setup.dataset->training_rows == 0)
    throw OptionError("epochs", "cannot be counted: the data is endless; give `steps` or `time`");
  const double rows = *run.epochs * static_cast<double>(setup.dataset->training_rows);
  run.steps = std::max<int64_t>(1, std::llround(rows / static_cast<double>(setup.options.batch.batch_size)));
  if (run.steps < kTooFewSteps) {
    setup.warnings.push_back(fmt::format(
        "{} epochs of {} rows are {} steps only, which teach next to nothing: give more epochs, or a smaller "
        "batch_size",
        *run.epochs, setup.dataset->training_rows, run.steps));
    observer.OnWarning(setup.warnings.back());
  }
  run.epochs.reset();
  CheckTogether(setup.options);
}

// `known`: the variables of the model, where there is one.
void OpenData(RunSetup& setup, int64_t columns, const Variables& known, Observer& observer) {
  if (setup.dataset != nullptr) return ResolveEpochs(setup, observer);
  const auto seed = static_cast<uint64_t>(setup.options.batch.seed);
  setup.dataset = std::make_shared<Dataset>(OpenDataset(setup.options.data, seed, columns, observer, known));
  ResolveEpochs(setup, observer);
}

// The network without its base. A file is opened before the data: its width is what the rows must have.
onnx::ModelProto OpenNetwork(RunSetup& setup, const RunSources& sources, Observer& observer) {
  const NetworkOptions& network = setup.options.network;
  if (network.IsFile()) {
    const LoadedModel loaded(network.model.kind);
    OpenData(setup, loaded.dimension(), loaded.energy_model().variables(), observer);
    return loaded.proto();
  }
  OpenData(setup, WantedColumns(setup.options), {}, observer);
  if (sources.network != nullptr) return *sources.network;
  return BuildNetwork(setup.options, *setup.dataset);
}

// The base that the options name, under the network.
void AttachBaseTo(RunSetup& setup, const onnx::ModelProto* learned) {
  const Choice& base = setup.options.network.base;
  std::optional<onnx::ModelProto> opened;
  if (learned == nullptr && IsLearnedHere(base))
    learned = &opened.emplace(BuildBase(setup.options, *setup.dataset));
  if (IsBaseFile(base)) {
    opened = LoadedModel(base.kind).proto();
    Blame("base", [&] { AddAutoregressiveBase(setup.model, *opened); });
  } else {
    AttachBase(setup.model, base, {setup.dataset->mean, learned});
  }
}

void OpenBase(RunSetup& setup) {
  if (GetMetadata(setup.model, metadata_key::kBase).empty()) return;
  const LoadedModel loaded(setup.model, "the model");
  if (IsNormalised(setup.model)) {
    RequireNormalisedForm(loaded.energy_model());
  } else {
    setup.base = MakeBaseDistribution(loaded.energy_model(), setup.options.run.threads);
  }
}

// What of a user's file is no parameter. The architectures keep constants and parameters apart.
void ChooseRoles(RunSetup& setup, onnx::ModelProto& network, Observer& observer) {
  const NetworkOptions& options = setup.options.network;
  if (!options.IsFile() && !options.trainable.empty())
    throw OptionError("trainable",
                      fmt::format("has no effect with `model` {}; it is for .onnx files", options.model.kind),
                      OptionError::Problem::kNoEffect);
  if (!options.IsFile()) return;
  setup.roles = WidenAndFindRoles(network, options.trainable);
  for (const std::string& sentence : setup.roles->Describe()) observer.OnNotice(sentence);
}

// As the run began, whatever its parameters have become: what is trained has a place in the checkpoint.
ParameterRoles RolesOf(const Checkpoint& checkpoint, const onnx::ModelProto& model) {
  ParameterRoles roles;
  std::set<std::string> trained;
  for (const StateTensor& tensor : checkpoint.SelectTensors("energy")) {
    trained.insert(tensor.parameter);
    if (tensor.kind == kZeroMaskKind) roles.masked.push_back(tensor.parameter);
  }
  for (const auto& tensor : model.graph().initializer())
    if (!trained.contains(tensor.name())) roles.buffers.push_back({tensor.name(), "not trained so far"});
  return roles;
}

// A run from the beginning. The network is ready to be deployed from here on: only its parameters change.
void Begin(RunSetup& setup, const RunSources& sources, Observer& observer) {
  const std::string& name = setup.options.network.model.kind;
  PreparedModel network = Prepare(OpenNetwork(setup, sources, observer), name);
  ChooseRoles(setup, network.model, observer);
  ChooseMethod(setup, observer);
  if (const int64_t columns = setup.dataset->training->columns(); network.contract.dimension != columns)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: the model has {} variables, but the rows have {}", name,
                            network.contract.dimension, columns));
  if (setup.options.network.IsFile())
    AdaptMetadata(network.model, setup.options.network, network.contract.dimension);
  NoteVariables(network.model, setup.dataset->variables);
  if (setup.dataset->variables.described()) NoteSeparator(network.model, setup.options.data);
  const std::vector<std::string>& of_data = setup.dataset->warnings;
  setup.warnings.insert(setup.warnings.begin(), of_data.begin(), of_data.end());
  // Only a network that is trained without its base is kept apart: models may be large.
  const Choice& base = setup.options.network.base;
  const bool learned = IsLearnedHere(base) || IsBaseFile(base);
  const bool carried = !GetMetadata(network.model, metadata_key::kBase).empty();  // by the file
  setup.model = learned || carried ? network.model : std::move(network.model);
  AttachBaseTo(setup, sources.base);
  for (std::string& warning : PrepareForDeployment(setup.model, name)) {
    observer.OnWarning(warning);
    setup.warnings.push_back(std::move(warning));
  }
  OpenBase(setup);
  RequireNormalised(setup);
  const EnergyContract contract = CheckContract(setup.model, name);
  ChooseNegatives(setup, contract, observer);
  if (carried && setup.negatives->of_network_alone())
    network = Prepare(RemoveAutoregressiveBase(network.model), name);
  MakeLearner(
      setup, setup.negatives->of_network_alone() ? std::move(network) : PreparedModel{setup.model, contract});
}

constexpr char kOfCheckpoint[] = "the model of the checkpoint";

// What is trained, without its data.
EnergyContract OpenCheckpoint(RunSetup& setup, const Checkpoint& checkpoint) {
  PreparedModel network = Prepare(RestoreModel(checkpoint, Weights::kRaw), kOfCheckpoint);
  setup.model = std::move(network.model);
  setup.roles = RolesOf(checkpoint, setup.model);
  OpenBase(setup);
  return network.contract;
}

// A run that goes on from a checkpoint.
void GoOn(RunSetup& setup, const Checkpoint& checkpoint, Observer& observer) {
  const EnergyContract contract = OpenCheckpoint(setup, checkpoint);
  OpenData(setup, contract.dimension, GetVariables(setup.model, contract.dimension), observer);
  ChooseMethod(setup, observer);
  ChooseNegatives(setup, contract, observer);
  RequireSame(checkpoint.configuration, setup.options);  // another seed may give other data, too
  if (setup.dataset->hash != checkpoint.data) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}' is not the data that the run was trained on so far ({}, now {}); restore it, or start "
            "a new run",
            setup.options.data.data, checkpoint.data, setup.dataset->hash));
  }
  MakeLearner(setup, TrainedNetwork(setup, contract));
  setup.learner->WriteState(checkpoint.SelectTensors("energy"));
  setup.negatives->Load(checkpoint.SelectTensors("negatives"));
}

}  // namespace

BatchShape RunSetup::shape() const {
  const NegativeSource::Shape shape = negatives->shape(options.contrast.negatives);
  return {shape.negatives, shape.weighted};
}

LearnerOptions MakeLearnerOptions(const RunSetup& setup) {
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
  if (setup.roles) {
    learner.buffers = setup.roles->BufferNames();
    learner.masked = setup.roles->masked;
  }
  if (options.network.freeze_zeros) learner.freeze_zeros = options.network.freeze_zeros_parameters;
  if (IsNormalised(setup.model)) learner.freeze_zeros.push_back(kMaskedParameters);
  if (setup.base != nullptr && !setup.negatives->of_network_alone())
    learner.frozen.push_back(kBaseParameters);
  learner.dropout = Dropout(setup);
  learner.device = ParseDevice(options.run.device);
  learner.threads = options.run.threads;
  learner.micro_batch = options.batch.micro_batch;
  learner.shards = options.batch.shards.value_or(1);
  learner.processes = setup.processes;
  return learner;
}

PreparedModel TrainedNetwork(const RunSetup& setup, const EnergyContract& contract) {
  if (!setup.negatives->of_network_alone()) return {setup.model, contract};
  return Prepare(RemoveAutoregressiveBase(setup.model), kOfCheckpoint);
}

RunSetup OpenWithoutData(const TrainOptions& options, const Checkpoint& checkpoint) {
  RunSetup setup;
  setup.options = Resolve(options);
  const EnergyContract contract = OpenCheckpoint(setup, checkpoint);
  setup.dataset = std::make_shared<Dataset>();
  setup.negatives = MakeNegatives(setup.options.contrast.method, Rows(setup, contract));
  return setup;
}

RunSetup SetUp(const TrainOptions& given, const RunSources& sources, Observer& observer) {
  RunSetup setup;
  setup.options = Resolve(given);
  setup.dataset = sources.dataset;
  setup.processes = &observer.processes();
  ResolveShards(setup, sources.checkpoint);
  if (sources.checkpoint != nullptr) {
    GoOn(setup, *sources.checkpoint, observer);
  } else {
    Begin(setup, sources, observer);
  }
  RequireSameSetup(setup);
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
      {"data_hash", setup.dataset->hash},
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
          if constexpr (!std::is_same_v<std::decay_t<decltype(each)>, Nothing>) json[key] = each;
        },
        value);
  };
  for (const char* key : {"w", "energy_l2", "ratio_clip"})
    if (const auto found = chosen.find(key); found != chosen.end()) add(key, found->second);
  for (const auto& [key, value] : setup.negatives->Describe(options.Progress(step))) add(key, value);
  return json.dump();
}

}  // namespace ort_ed
