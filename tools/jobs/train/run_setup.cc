#include "tools/jobs/train/run_setup.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

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
#include "tools/jobs/digest.h"
#include "tools/jobs/loaded_model.h"
#include "tools/jobs/log_z/normalised_form.h"
#include "tools/jobs/processes.h"
#include "tools/jobs/settings/toml.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/learned_base/base_options.h"
#include "tools/jobs/train/learned_base/base_phase.h"
#include "tools/jobs/train/learned_base/choose_base.h"
#include "tools/jobs/train/setup/choose_method.h"
#include "tools/jobs/train/setup/describe_training.h"
#include "tools/jobs/train/setup/make_learner.h"
#include "tools/jobs/train/setup/resolve_options.h"
#include "tools/jobs/train/steps/plan_steps.h"
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

void RequireNormalised(const RunSetup& setup) {
  if (setup.options.objective.kind != "likelihood" || IsNormalised(setup.model)) return;
  throw OptionError("method", fmt::format("likelihood needs a normalised model, such as `model` made; {} is "
                                          "trained by another method",
                                          setup.options.network.model.kind));
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

PreparedModel TrainedNetwork(const RunSetup& setup, const EnergyContract& contract) {
  if (!setup.negatives->of_network_alone()) return {setup.model, contract};
  return Prepare(RemoveAutoregressiveBase(setup.model), kOfCheckpoint);
}

RunSetup OpenWithoutData(const TrainOptions& options, const Checkpoint& checkpoint) {
  RunSetup setup;
  setup.options = ResolveOptions(options);
  const EnergyContract contract = OpenCheckpoint(setup, checkpoint);
  setup.dataset = std::make_shared<Dataset>();
  setup.negatives = MakeNegatives(setup.options.contrast.method, RowsOf(setup, contract));
  return setup;
}

RunSetup SetUp(const TrainOptions& given, const RunSources& sources, Observer& observer) {
  RunSetup setup;
  setup.options = ResolveOptions(given);
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

}  // namespace ort_ed
