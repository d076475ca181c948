#include "trainer/policy/policy_learner.h"

#include <algorithm>
#include <cmath>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

// Rows of paths evaluated at once, so that memory does not grow with the square of the dimension.
constexpr int64_t kRowsAtOnce = int64_t{1} << 15;

ConstructionPolicySpec Spec(const PolicyOptions& options, const RowContext& rows) {
  if (options.policy_hidden.empty())
    throw OptionError("policy_hidden", "must have the width of a layer at least");
  // Not the stream of the energy's initial parameters.
  constexpr uint64_t kPolicySeed = 0x706F6C6963790000ULL;
  return {.dimension = rows.dimension,
          .hidden = options.policy_hidden,
          .log_z_scale = options.log_z_rate / options.policy_rate,
          .seed = rows.seed ^ kPolicySeed};
}

// Adam without clipping: the scaled log_z would take the whole of the norm.
Learner MakeLearner(const ConstructionPolicySpec& spec, const RowContext& rows) {
  LearnerOptions options;
  options.objective = "trajectory-balance";
  options.tensor = construction_policy::kLogits;
  options.optimizer.clip = 0;
  options.optimizer.ema = 0;
  options.device = rows.device;
  options.threads = rows.threads;
  options.micro_batch = std::max<int64_t>(1, kRowsAtOnce / (1 + spec.dimension));
  return Learner(Prepare(BuildPolicyForTraining(spec), "the policy"), options, {spec.dimension, true});
}

}  // namespace

void PolicyOptions::Describe(Declare<PolicyOptions>& declare) {
  declare("policy_hidden", &PolicyOptions::policy_hidden, "[1, inf)",
          "widths of the hidden layers of the policy, first to last");
  declare("policy_rate", &PolicyOptions::policy_rate, "(0, inf)", "size of a step of the policy");
  declare("log_z_rate", &PolicyOptions::log_z_rate, "(0, inf)",
          "size of a step of the logarithm of the partition function that is learned with it");
}

PolicyLearner::PolicyLearner(const PolicyOptions& options, const RowContext& rows)
    : spec_(Spec(options, rows)),
      rate_(options.policy_rate),
      threads_(rows.threads),
      learner_(MakeLearner(spec_, rows)) {}

PolicyView PolicyLearner::view() {
  return {.dimension = spec_.dimension,
          .logits =
              [this](std::span<const uint8_t> states, std::span<float> logits) {
                states_.assign(states.begin(), states.end());
                learner_.CurrentTensor(states_, logits);
              },
          .threads = threads_};
}

double PolicyLearner::Learn(const ConstructionPaths& paths, std::span<const double> energies, int64_t step) {
  ContrastiveBatch batch(std::ssize(energies), spec_.dimension, spec_.dimension, true);
  batch.rows = EncodePaths(paths, spec_.dimension);
  for (int64_t i = 0; i < batch.positives; ++i) batch.LogWeights(i)[0] = static_cast<float>(energies[i]);
  const StepResult result = learner_.Step(batch, rate_, step);
  if (!result.finite())
    throw Error(
        ErrorCode::kRuntime,
        "the policy diverged at step " + std::to_string(step) +
            ": its loss is not a number. Try a smaller policy_rate, or a smaller learning_rate of the "
            "energy");
  return result.loss;
}

double PolicyLearner::log_z() {
  for (const StateTensor& tensor : learner_.DescribeState())
    if (tensor.kind == "parameters" && tensor.parameter == construction_policy::kLogPartitionParameter)
      return learner_.ReadValues(tensor).front() * spec_.log_z_scale;
  throw Error(ErrorCode::kRuntime, "the policy has no log_z");
}

std::string PolicyLearner::Deploy() {
  onnx::ModelProto model = BuildPolicyForDeployment(spec_);
  learner_.Export(model, /*averaged=*/false);
  return SerializeModel(model);
}

std::vector<StateTensor> PolicyLearner::Save() {
  std::vector<StateTensor> state = learner_.ReadState();
  for (StateTensor& tensor : state) tensor.owner = kOwner;
  return state;
}

void PolicyLearner::Load(std::span<const StateTensor> state) { learner_.WriteState(state); }

}  // namespace ort_ed
