#include "tools/jobs/train/setup/make_learner.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "models/base/base_kind.h"
#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "tools/jobs/log_z/normalised_form.h"
#include "trainer/autodiff/blind_spots.h"
#include "trainer/negatives/likelihood.h"

namespace ort_ed {
namespace {

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

}  // namespace

void MakeLearner(RunSetup& setup, PreparedModel network) {
  setup.learner = std::make_unique<Learner>(std::move(network), MakeLearnerOptions(setup), setup.shape());
  TryEnergy(setup);
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

}  // namespace ort_ed
