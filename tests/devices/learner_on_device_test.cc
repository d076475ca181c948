// A training on a device takes the steps that it takes on the CPU.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "ort_ed/random.h"
#include "tests/devices/test_device.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 36, kNegatives = 4;

struct Case {
  const char* name;
  Choice architecture;
  int64_t micro_batch = 0;
  bool weighted = false;
  void (*change)(LearnerOptions& options) = [](LearnerOptions&) {};
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

onnx::ModelProto Network(const Case& test) {
  EnergySpec spec{.architecture = test.architecture, .dimension = kDimension};
  if (test.architecture.kind == "resnet") spec.image_shape = {6, 6};
  return BuildModel(spec);
}

LearnerOptions Options(const Case& test, const Device& device) {
  LearnerOptions options;
  options.optimizer.clip = 5;
  options.optimizer.ema = 0.9;
  options.optimizer.adam_epsilon = 1e-2;  // what has no gradient but rounding errors shall not move by them
  options.threads = 1;
  options.micro_batch = test.micro_batch;
  options.cpu_kernels = false;
  options.device = device;
  test.change(options);
  return options;
}

ContrastiveBatch Batch(int64_t step, bool weighted) {
  const Choice method = weighted ? Choice("neighbourhood") : Choice("bernoulli", {{"epsilon", 0.2}});
  const auto source = MakeNegatives(method, {.dimension = kDimension});
  ContrastiveBatch batch(9, kNegatives, kDimension, source->shape(kNegatives).weighted);
  RandomStream random(5, 1, static_cast<uint64_t>(step), 0);
  for (int64_t i = 0; i < batch.positives; ++i)
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.7f);
  source->Fill({.seed = 5, .step = step}, batch);
  return batch;
}

void ExpectNear(std::span<const float> values, std::span<const float> expected, double tolerance,
                const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  double scale = 1e-2;
  for (const float value : expected) scale = std::max(scale, static_cast<double>(std::abs(value)));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], tolerance * scale) << what << "[" << i << "]";
}

void ExpectSameState(Learner& learner, Learner& expected) {
  const auto state = learner.ReadState(), other = expected.ReadState();
  ASSERT_EQ(state.size(), other.size());
  for (size_t i = 0; i < state.size(); ++i)
    ExpectNear(state[i].values, other[i].values, 2e-3, state[i].kind + " of " + state[i].parameter);
}

void TakeSteps(Learner& learner, Learner& expected, bool weighted, int first, int last) {
  for (int step = first; step <= last; ++step) {
    const ContrastiveBatch batch = Batch(step, weighted);
    const StepResult result = learner.Step(batch, 0.01, step), other = expected.Step(batch, 0.01, step);
    ASSERT_NEAR(result.loss, other.loss, 1e-4 * (1 + std::abs(other.loss))) << "step " << step;
    ASSERT_NEAR(result.energy_positive, other.energy_positive, 1e-3 * (1 + std::abs(other.energy_positive)));
    ASSERT_NEAR(result.gradient_norm, other.gradient_norm, 1e-3 * (1 + other.gradient_norm));
    ASSERT_NEAR(result.parameter_norm, other.parameter_norm, 1e-4 * (1 + other.parameter_norm));
  }
}

const Case kCases[] = {
    {"mlp", {"mlp", {{"hidden", std::vector<int64_t>{24, 16}}}}},
    {"rbm", {"rbm", {{"hidden", 12}}}},
    {"ising", {"ising"}},
    {"resnet", {"resnet", {{"channels", 8}, {"blocks", 1}}}},
    {"mlp_weighted_micro_batches", {"mlp", {{"hidden", std::vector<int64_t>{24}}}}, 4, true},
    {"mlp_in_place", {"mlp", {{"hidden", std::vector<int64_t>{1024, 256}}}}},
    {"mlp_penalties",
     {"mlp", {{"hidden", std::vector<int64_t>{24}}}},
     0,
     false,
     [](LearnerOptions& options) {
       options.penalties.weight_decay = 0.01;
       options.penalties.l1 = 1e-3;
       options.optimizer.optimizer = OptimizerKind::kSgd;
     }},
};

class LearnerOnDevice : public OnDevice, public testing::WithParamInterface<Case> {};

std::span<const float> Floats(const onnx::TensorProto& tensor) {
  return {reinterpret_cast<const float*>(tensor.raw_data().data()), tensor.raw_data().size() / sizeof(float)};
}

void ExpectSameEnergies(Learner& learner, Learner& expected) {
  std::vector<float> states;
  for (const uint8_t bit : Batch(7, false).rows) states.push_back(bit);
  const size_t rows = states.size() / kDimension;
  std::vector<double> energies(rows), other(rows);
  std::vector<float> slopes(states.size()), other_slopes(states.size());
  learner.CurrentEnergy(true)->EnergyAndGradient(states, energies, slopes);
  expected.CurrentEnergy(true)->EnergyAndGradient(states, other, other_slopes);
  for (size_t i = 0; i < rows; ++i) EXPECT_NEAR(energies[i], other[i], 1e-3 * (1 + std::abs(other[i])));
  ExpectNear(slopes, other_slopes, 2e-3, "slopes");
}

void ExpectSameExport(Learner& learner, Learner& expected, const onnx::ModelProto& network) {
  onnx::ModelProto exported = network, other = network;
  learner.Export(exported, /*averaged=*/true);
  expected.Export(other, /*averaged=*/true);
  for (int i = 0; i < exported.graph().initializer_size(); ++i) {
    const onnx::TensorProto& tensor = exported.graph().initializer(i);
    if (tensor.data_type() != onnx::TensorProto::FLOAT) continue;
    ExpectNear(Floats(tensor), Floats(other.graph().initializer(i)), 2e-3, tensor.name());
  }
}

// One learner for all of it: on a renderer without a GPU the shaders of a new one take seconds.
TEST_P(LearnerOnDevice, DoesWhatItDoesOnTheCpu) {
  const Case& test = GetParam();
  const onnx::ModelProto network = Network(test);
  const BatchShape shape{kNegatives, test.weighted};
  Learner expected(Prepare(network), Options(test, {}), shape);
  Learner learner(Prepare(network), Options(test, device()), shape);
  ExpectSameState(learner, expected);
  ASSERT_NO_FATAL_FAILURE(TakeSteps(learner, expected, test.weighted, 1, 3));
  ExpectSameState(learner, expected);
  ExpectSameEnergies(learner, expected);
  ExpectSameExport(learner, expected, network);
  const ContrastiveBatch held_out = Batch(8, test.weighted);
  EXPECT_NEAR(learner.Validate(held_out).loss, expected.Validate(held_out).loss, 1e-3);

  Learner earlier(Prepare(network), Options(test, {}), shape);
  earlier.Step(Batch(1, test.weighted), 0.01, 1);
  learner.WriteState(earlier.ReadState());
  ExpectSameState(learner, earlier);
  ASSERT_NO_FATAL_FAILURE(TakeSteps(learner, earlier, test.weighted, 2, 2));
}

INSTANTIATE_TEST_SUITE_P(Device, LearnerOnDevice, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ort_ed
