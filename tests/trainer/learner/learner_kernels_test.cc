// Whole training steps with our own kernels, against those of standard operators.
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/architectures/energy_spec.h"
#include "ort_ed/random.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

EnergySpec Network(const std::string& architecture) {
  EnergySpec spec;
  spec.architecture = architecture;
  spec.image_shape = {8, 8};
  spec.seed = 3;
  if (architecture == "resnet") {
    spec.architecture.options = {
        {"channels", "16"}, {"downsample", "1"}, {"blocks", "1"}, {"slope", "layer"}};
  } else {
    spec.architecture.options = {{"hidden", "20,24"}};
  }
  return spec;
}

// Plain descent, so that rounding errors of the gradient are not divided by its size.
std::vector<StateTensor> StateAfterSteps(const EnergySpec& network, int threads, bool cpu_kernels) {
  constexpr int64_t kNegatives = 7;
  LearnerOptions options;
  options.optimizer.optimizer = OptimizerKind::kSgd;
  options.optimizer.clip = 0;
  options.optimizer.ema = 0;
  options.threads = threads;
  options.cpu_kernels = cpu_kernels;
  Learner training(Prepare(BuildModel(network)), options, {.negatives = kNegatives});
  const auto source = MakeNegatives({"bernoulli", {{"epsilon", 0.1}}}, {.dimension = training.dimension()});
  for (int step = 1; step <= 3; ++step) {
    ContrastiveBatch batch(9, kNegatives, training.dimension(), false);
    RandomStream random(1, 1, step, 0);
    for (int64_t i = 0; i < batch.positives; ++i) {
      for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.3f);
    }
    source->Fill({.seed = 1, .step = step}, batch);
    EXPECT_TRUE(training.Step(batch, 0.5, step).finite());
  }
  return training.ReadState();
}

// The largest difference of two states and the largest value of the first.
struct Difference {
  double largest = 0;
  double scale = 0;
};
Difference Compare(const std::vector<StateTensor>& a, const std::vector<StateTensor>& b) {
  Difference result;
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < a[i].values.size(); ++k) {
      result.largest = std::max(result.largest, std::abs(double{a[i].values[k]} - b[i].values[k]));
      result.scale = std::max(result.scale, std::abs(double{a[i].values[k]}));
    }
  }
  return result;
}

class LearnerKernelsTest : public testing::TestWithParam<const char*> {};

TEST_P(LearnerKernelsTest, AgreesWithStandardOperators) {
  const EnergySpec network = Network(GetParam());
  const Difference difference =
      Compare(StateAfterSteps(network, 1, false), StateAfterSteps(network, 1, true));
  EXPECT_LT(difference.largest, 1e-4 * difference.scale);
}

TEST_P(LearnerKernelsTest, DoesNotDependOnTheNumberOfThreads) {
  const EnergySpec network = Network(GetParam());
  const Difference difference = Compare(StateAfterSteps(network, 1, true), StateAfterSteps(network, 3, true));
  EXPECT_LT(difference.largest, 1e-6 * difference.scale);
}

TEST_P(LearnerKernelsTest, RepeatsBitForBit) {
  const EnergySpec network = Network(GetParam());
  EXPECT_EQ(Compare(StateAfterSteps(network, 2, true), StateAfterSteps(network, 2, true)).largest, 0);
}

INSTANTIATE_TEST_SUITE_P(Networks, LearnerKernelsTest, testing::Values("mlp", "resnet"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ort_ed
