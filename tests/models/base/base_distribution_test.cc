#include "models/base/base_distribution.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/metadata.h"
#include "tests/models/run_model.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

constexpr int64_t kRows = 20;

double LogProbability(const float* x, const std::vector<float>& mean) {
  double sum = 0;
  for (size_t i = 0; i < mean.size(); ++i) sum += std::log(x[i] > 0 ? double{mean[i]} : 1 - double{mean[i]});
  return sum;
}

// The energies with base are those without minus log p0.
void ExpectBaseAdded(const onnx::ModelProto& without, const onnx::ModelProto& with,
                     const std::vector<float>& mean, const std::string& output = "energy") {
  CheckOnnx(with, "test");
  const auto dimension = static_cast<int64_t>(mean.size());
  const std::vector<float> rows = RandomRows(kRows, dimension);
  const std::vector<float> plain = RunModel(without, rows, {kRows, dimension}, output);
  const std::vector<float> based = RunModel(with, rows, {kRows, dimension}, output);
  ASSERT_EQ(based.size(), size_t{kRows});
  for (int64_t row = 0; row < kRows; ++row) {
    const double expected = plain[row] - LogProbability(&rows[row * dimension], mean);
    EXPECT_NEAR(based[row], expected, 1e-5 * (1 + std::abs(expected)));
  }
}

TEST(BaseDistribution, SubtractsTheLogProbability) {
  const std::vector<float> mean = {0.1f, 0.5f, 0.999f, 1e-6f, 0.25f, 0.75f};
  for (const char* architecture : {"ising", "rbm", "mlp", "resnet"}) {
    EnergySpec spec{.architecture = architecture, .image_shape = {2, 3}};
    if (spec.architecture.kind == "resnet") spec.architecture.options["channels"] = 3;
    const onnx::ModelProto without = BuildModel(spec);
    spec.base_mean = mean;
    ExpectBaseAdded(without, BuildModel(spec), mean);
  }
}

TEST(BaseDistribution, OfOneVariable) {
  EnergySpec spec{.architecture = {"ising", {{"field", "0.5"}}}, .dimension = 1};
  const onnx::ModelProto without = BuildModel(spec);
  spec.base_mean = {0.3f};
  ExpectBaseAdded(without, BuildModel(spec), spec.base_mean);
}

TEST(BaseDistribution, OfCategoriesIsTheProductOfTheirProbabilities) {
  const Variables variables(
      {{.name = "on"}, {.name = "size", .kind = VariableKind::kOrdered, .labels = {"S", "M", "L"}}});
  onnx::ModelProto without = BuildModel({.architecture = "ising", .dimension = 4});
  SetMetadata(without, metadata_key::kVariables, FormatVariables(variables));
  onnx::ModelProto with = without;
  const std::vector<float> mean = SmoothedMean(std::vector<double>{0.25, 0.5, 0.5, 0}, 0.03, variables);
  EXPECT_THAT(mean, testing::ElementsAre(testing::FloatEq(0.265f), testing::FloatEq(0.49f),
                                         testing::FloatEq(0.49f), testing::FloatEq(0.02f)));
  AddBaseDistribution(with, mean);
  double total = 0;
  for (const float on : {0.0f, 1.0f})
    for (int size = 0; size < 3; ++size) {
      std::vector<float> row = {on, 0, 0, 0};
      row[1 + size] = 1;
      const double p = (on == 1 ? mean[0] : 1 - mean[0]) * mean[1 + size];
      EXPECT_NEAR(RunModel(with, row, {1, 4})[0] - RunModel(without, row, {1, 4})[0], -std::log(p), 1e-5);
      total += p;
    }
  EXPECT_NEAR(total, 1, 1e-6);
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        AddBaseDistribution(without, std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f});
      },
      "'size' add up to 1.5");
}

TEST(BaseDistribution, IsConstantAndNotTrained) {
  EnergySpec spec{.architecture = "mlp", .dimension = 2};
  const int parameters = BuildModel(spec).graph().initializer_size();
  spec.base_mean = {0.3f, 0.4f};
  EXPECT_EQ(BuildModel(spec).graph().initializer_size(), parameters);
}

TEST(BaseDistribution, OnAUsersModelOfOtherNamesAndAColumnOfEnergies) {
  const onnx::ModelProto without = FromText(R"(
    g (float[n, 3] input) => (float[n, 1] out) {
      axes = Constant <value = int64[1] {1}> ()
      out = ReduceSum <keepdims = 1> (input, axes)
    })");
  onnx::ModelProto with = without;
  const std::vector<float> mean = {0.2f, 0.4f, 0.9f};
  AddBaseDistribution(with, mean);
  ExpectBaseAdded(without, with, mean, "out");
  EXPECT_EQ(with.graph().output(0).type().tensor_type().shape().dim_size(), 1);
}

TEST(BaseDistribution, OnAModelWhoseEnergyIsUsedInsideAndWhoseNamesCollide) {
  const onnx::ModelProto without = FromText(R"(
    g (float[n, 3] x) => (float[n] energy, float[n] twice) {
      axes = Constant <value = int64[1] {1}> ()
      energy = ReduceSum <keepdims = 0> (x, axes)
      net_energy = Identity (energy)
      twice = Add (energy, net_energy)
    })");
  onnx::ModelProto with = without;
  const std::vector<float> mean = {0.2f, 0.4f, 0.9f};
  AddBaseDistribution(with, mean);
  ExpectBaseAdded(without, with, mean);
}

TEST(BaseDistribution, WorksInOldAndNewOpsets) {
  for (const int64_t opset : {9, 11, 13, 18, 20}) {
    const onnx::ModelProto without = FromText(R"(
      g (float[n, 2] x) => (float[n] energy) {
        w = Constant <value = float[2] {1, 2}> ()
        energy = MatMul (x, w)
      })",
                                              opset);
    onnx::ModelProto with = without;
    AddBaseDistribution(with, std::vector<float>{0.2f, 0.4f});
    ExpectBaseAdded(without, with, {0.2f, 0.4f});
  }
}

TEST(BaseDistribution, DropsWhatIsNoLongerTrue) {
  onnx::ModelProto model = BuildModel({.architecture = "mlp", .dimension = 2});
  SetMetadata(model, metadata_key::kLogZ, "1");
  SetMetadata(model, metadata_key::kGradientFragment, "abc");
  AddBaseDistribution(model, std::vector<float>{0.5f, 0.5f});
  for (const auto& entry : model.metadata_props()) {
    EXPECT_NE(entry.key(), metadata_key::kLogZ);
    EXPECT_NE(entry.key(), metadata_key::kGradientFragment);
  }
}

TEST(BaseDistribution, RefusesWhatCannotBe) {
  const EnergySpec spec{.architecture = "mlp", .dimension = 2};
  const auto rejects = [&](std::vector<float> mean, const std::string& part) {
    onnx::ModelProto model = BuildModel(spec);
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { AddBaseDistribution(model, mean); }, part);
  };
  rejects({0.5f}, "has 1 variables, the model 2");
  rejects({0.5f, 0}, "variable 1 is 0");
  rejects({1, 0.5f}, "variable 0 is 1");
  rejects({std::nanf(""), 0.5f}, "variable 0 is nan");
  onnx::ModelProto model = BuildModel(spec);
  AddBaseDistribution(model, std::vector<float>{0.5f, 0.5f});
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        AddBaseDistribution(model, std::vector<float>{0.5f, 0.5f});
      },
      "already has");
}

TEST(BaseDistribution, SmoothingKeepsTheMeanInside) {
  EXPECT_THAT(SmoothedMean(std::vector<double>{0, 0.5, 1}, 0.01), testing::ElementsAre(0.01f, 0.5f, 0.99f));
  for (const double too_little : {0.0, 1e-12})
    ExpectError(
        ErrorCode::kInvalidArgument,
        [&] {
          SmoothedMean(std::vector<double>{0.5, 1}, too_little);
        },
        "base_smoothing must be larger: the base mean of variable 1 would be 1");
}

}  // namespace
}  // namespace ort_ed
