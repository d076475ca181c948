#include "tools/jobs/train/learned_base/base_options.h"

#include <algorithm>

#include "models/architectures/energy_spec.h"
#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "models/graph/model_edits.h"
#include "ort_ed/metadata.h"
#include "ort_ed/options.h"

namespace ort_ed {
namespace {

constexpr double kSmoothing = 0.01;  // of the means where the network begins
constexpr int64_t kFewestValidations = 20, kEpochsOfAValidation = 2, kShortestInterval = 10;
constexpr int64_t kPatientShare = 4;  // of the steps, which may pass without a better validation
constexpr int64_t kMostSteps = 8000, kStepsForOneOfTheNetwork = 8;
constexpr double kMostWork = 1.8e10;     // weights x steps
constexpr double kPenaltyOfAllRows = 2;  // l1 of a row, times their number; docs/training.md has the trials

Choice ChooseNetwork(const TrainOptions& options) {
  const MadeBaseOptions base = GetBaseOptions(options);
  Choice network = {"made",
                    {{"hidden", base.base_hidden}, {"order", base.base_order}, {"orders", base.base_orders}}};
  if (base.base_view.empty()) return network;
  network.options.insert({{"view", base.base_view}, {"maps", base.base_maps}, {"blocks", base.base_blocks}});
  return network;
}

int64_t DefaultSteps(const TrainOptions& options, const Dataset& dataset) {
  const double most = std::max(1.0, kMostWork / CountWeights(GetBaseOptions(options), dataset));
  return std::min({options.run.steps * kStepsForOneOfTheNetwork, kMostSteps, static_cast<int64_t>(most)});
}

// Few rows are learned, and then learned by heart, in few steps.
int64_t ValidationInterval(const TrainOptions& phase, const Dataset& dataset) {
  const int64_t longest = std::max<int64_t>(1, phase.run.steps / kFewestValidations);
  if (dataset.training_rows == 0) return longest;
  return std::clamp(kEpochsOfAValidation * dataset.training_rows / phase.batch.batch_size,
                    std::min(longest, kShortestInterval), longest);
}

}  // namespace

MadeBaseOptions GetBaseOptions(const TrainOptions& options) {
  return MakeOptions<MadeBaseOptions>(options.network.base.options);
}

double CountWeights(const MadeBaseOptions& base, const Dataset& dataset) {
  const auto columns = static_cast<double>(dataset.training->columns());
  double count = columns * columns, before = columns;
  for (const int64_t units : base.base_hidden) {
    count += before * static_cast<double>(units);
    before = static_cast<double>(units);
  }
  return (count + before * columns) * static_cast<double>(base.base_orders);
}

double PenaltyOfARow(double of_all_rows, const Dataset& dataset) {
  return dataset.training_rows > 0 ? of_all_rows / static_cast<double>(dataset.training_rows) : 0;
}

TrainOptions BasePhaseOptions(const TrainOptions& options, const Dataset& dataset) {
  const MadeBaseOptions base = GetBaseOptions(options);
  TrainOptions phase = options;
  phase.network = {};
  phase.network.model = ChooseNetwork(options);
  phase.network.image_shape = options.network.image_shape;
  phase.network.base = "none";
  phase.contrast.method = {"likelihood", {{"dropout", base.base_dropout}}};
  if (!base.base_view.empty()) phase.contrast.method.options["view_dropout"] = base.base_view_dropout;
  phase.objective = kAutoObjective;
  phase.penalties = {};
  phase.penalties.l1 = base.base_l1.value_or(PenaltyOfARow(kPenaltyOfAllRows, dataset));
  if (phase.penalties.l1 > 0) phase.penalties.l1_parameters = {"*.weight"};
  if (base.base_weight_decay > 0) phase.penalties.weight_decay = base.base_weight_decay;
  phase.optimizer = {};
  phase.optimizer.optimizer = base.base_weight_decay > 0 ? OptimizerKind::kAdamW : OptimizerKind::kAdam;
  phase.optimizer.learning_rate = base.base_learning_rate;
  phase.batch.batch_size = base.base_batch_size;
  phase.batch.micro_batch = 0;
  if (phase.batch.shards) phase.batch.shards = std::min(*phase.batch.shards, base.base_batch_size);
  phase.schedule = {};
  phase.run.steps = base.base_steps ? *base.base_steps : DefaultSteps(options, dataset);
  phase.run.time.reset();
  phase.run.validate_every = {.steps = ValidationInterval(phase, dataset)};
  const bool validated = !phase.data.validation.empty() || phase.data.validation_fraction > 0;
  const int64_t patience = phase.run.steps / kPatientShare / phase.run.validate_every.steps;
  phase.run.patience = validated ? base.base_patience.value_or(std::max<int64_t>(1, patience)) : 0;
  return phase;
}

onnx::ModelProto BuildBase(const TrainOptions& options, const Dataset& dataset) {
  EnergySpec spec;
  spec.architecture = ChooseNetwork(options);
  spec.dimension = dataset.training->columns();
  spec.image_shape = ParseImageShape(options.network.image_shape);
  spec.variables = dataset.variables;
  spec.seed = static_cast<uint64_t>(options.batch.seed);
  onnx::ModelProto model;
  try {
    model = BuildModel(spec);
  } catch (const OptionError& error) {  // the user knows it as an option of the base
    if (error.key() == "image_shape") throw;
    throw OptionError("base_" + error.key(), error.reason(), error.problem());
  }
  if (dataset.variables.described())
    SetMetadata(model, metadata_key::kVariables, FormatVariables(dataset.variables));
  SetOutputBias(model, SmoothedMean(dataset.mean, kSmoothing, dataset.variables), dataset.variables);
  return model;
}

void ForgetBaseSteps(Choice& base) { base.options.erase("base_steps"); }
void ResolveBaseSteps(TrainOptions& options, const Dataset& dataset) {
  options.network.base.options.try_emplace("base_steps", DefaultSteps(options, dataset));
}

}  // namespace ort_ed
