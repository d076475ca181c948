#include "trainer/autodiff/input_gradient.h"

#include <cmath>

#include <gtest/gtest.h>
#include <onnx/checker.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_file.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/random.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

constexpr uint32_t kTestPurpose = 0x6967;

EnergySpec Spec(const std::string& architecture, int64_t dimension, std::vector<int64_t> image = {}) {
  EnergySpec spec;
  spec.architecture = architecture;
  spec.dimension = dimension;
  spec.image_shape = std::move(image);
  spec.seed = 3;
  for (int64_t i = 0; i < dimension; ++i) spec.base_mean.push_back(0.3f + 0.01f * static_cast<float>(i % 30));
  return spec;
}

std::vector<float> RandomRows(int64_t rows, int64_t dimension) {
  std::vector<float> values;
  RandomStream random(5, kTestPurpose, 0, 0);
  for (int64_t i = 0; i < rows * dimension; ++i) values.push_back(random.Bernoulli(0.5f));
  return values;
}

// The gradient of one coordinate against energies at x_i +- step; x need not be binary for that.
void ExpectGradientMatchesDifferences(const EnergyModel& model, double tolerance) {
  constexpr int64_t kRows = 3;
  constexpr float kStep = 0.01f;
  const int64_t dimension = model.dimension();
  const std::vector<float> rows = RandomRows(kRows, dimension);
  std::vector<float> energies(kRows), gradients(rows.size()), plain(kRows);
  model.EnergyAndGradient(rows, energies, gradients);
  model.EnergyUnchecked(rows, plain);
  double scale = 0.1;
  for (float gradient : gradients) scale = std::max<double>(scale, std::abs(gradient));
  for (int64_t i = 0; i < kRows; ++i) EXPECT_NEAR(energies[i], plain[i], 1e-4 * (1 + std::abs(plain[i])));
  for (int64_t i = 0; i < dimension; i += 1 + dimension / 16) {
    std::vector<float> above = rows, below = rows, energy_above(kRows), energy_below(kRows);
    for (int64_t row = 0; row < kRows; ++row) {
      above[row * dimension + i] += kStep;
      below[row * dimension + i] -= kStep;
    }
    model.EnergyUnchecked(above, energy_above);
    model.EnergyUnchecked(below, energy_below);
    for (int64_t row = 0; row < kRows; ++row) {
      const double expected = (energy_above[row] - energy_below[row]) / (2 * kStep);
      EXPECT_NEAR(gradients[row * dimension + i], expected, tolerance * scale) << "row " << row << ", x" << i;
    }
  }
}

EnergyModel Loaded(const onnx::ModelProto& model) {
  const std::string bytes = SerializeModel(model);
  return EnergyModel::FromMemory(std::as_bytes(std::span(bytes)), {.threads = 1});
}

class InputGradientTest : public testing::TestWithParam<const char*> {};

TEST_P(InputGradientTest, OfBuiltInModels) {
  const std::string architecture = GetParam();
  EnergySpec spec = architecture == "resnet" ? Spec(architecture, 64, {8, 8}) : Spec(architecture, 20);
  if (architecture == "resnet") spec.architecture.options["channels"] = "8";
  onnx::ModelProto model = BuildModel(spec);
  const onnx::ModelProto before = model;
  AttachInputGradient(model);
  EXPECT_EQ(model.graph().SerializeAsString(), before.graph().SerializeAsString())
      << "the graph itself changed";
  ExpectGradientMatchesDifferences(Loaded(model), 2e-2);
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, InputGradientTest, testing::Values("ising", "rbm", "mlp", "resnet"),
                         [](const auto& test) { return test.param; });

TEST(InputGradientTest, TheMergedModelIsValidOnnx) {
  const onnx::ModelProto model = BuildModel(Spec("mlp", 20));
  const std::string bytes = model.SerializeAsString() + InputGradientFragment(model).SerializeAsString();
  onnx::ModelProto merged;
  ASSERT_TRUE(merged.ParseFromString(bytes));
  EXPECT_NO_THROW(onnx::checker::check_model(merged));
  EXPECT_EQ(merged.graph().output_size(), 2);
  EXPECT_EQ(merged.graph().output(1).name(), "energy_gradient");
  for (const auto& node : merged.graph().node()) EXPECT_EQ(node.domain(), "") << node.op_type();
}

TEST(InputGradientTest, TwiceIsOnce) {
  onnx::ModelProto once = BuildModel(Spec("rbm", 12));
  AttachInputGradient(once);
  onnx::ModelProto twice = once;
  AttachInputGradient(twice);
  EXPECT_EQ(twice.SerializeAsString(), once.SerializeAsString());
}

TEST(InputGradientTest, OfAUsersOldModelWithColumnOutput) {
  onnx::ModelProto model = ParseModel(R"((float[batch,3] x) => (float[batch,1] energy)
      <float[3,2] w = {0.5, -1.0, 0.25, 2.0, -0.75, 0.3}, float[2,1] v = {1.0, -0.6}> {
      h = MatMul(x, w) c = Clip<min = -0.9>(h) t = Tanh(c) energy = MatMul(t, v) })",
                                      9);
  AttachInputGradient(model);
  ExpectGradientMatchesDifferences(Loaded(model), 2e-2);
}

TEST(InputGradientTest, OfAConstantEnergyIsZero) {
  onnx::ModelProto model = ParseModel(R"((float[batch,3] x) => (float[batch] energy) {
      axes = Constant<value_ints = [1]>() zero = Constant<value_float = 0.5>() c = Greater(x, zero)
      f = Cast<to = 1>(c) energy = ReduceSum<keepdims = 0>(f, axes) })");
  AttachInputGradient(model);
  const std::vector<float> row = {1, 0, 1};
  std::vector<float> energy(1), gradient(3, 7);
  Loaded(model).EnergyAndGradient(row, energy, gradient);
  EXPECT_EQ(gradient, std::vector<float>(3, 0));
}

TEST(InputGradientTest, WithoutARuleIsAnError) {
  onnx::ModelProto model = ParseModel(
      "(float[batch,8] x) => (float[batch] energy) { s = Constant<value_ints = [-1, 4, 2]>() m = Reshape(x, "
      "s) "
      "f = DFT(m) a = Constant<value_ints = [1, 2]>() energy = ReduceSum<keepdims = 0>(f, a) }");
  ExpectError(
      ErrorCode::kBadModel, [&] { AttachInputGradient(model); }, "'f' (DFT)");
}

}  // namespace
}  // namespace ort_ed
