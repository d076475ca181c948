#include "tools/jobs/compare/compare.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_files.h"
#include "tests/support/error_matchers.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/jobs/counting_observer.h"
#include "tools/jobs/train/train.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4;

class CompareJob : public ::testing::Test {
 protected:
  CompareJob() {
    WriteBytes(dir_.File("linear.onnx"), LinearModel(kDimension));
    WriteBytes(dir_.File("mlp.onnx"), MlpModel(kDimension, {5}));
  }

  CompareResult Run(const std::vector<std::string>& names, const CompareOptions& options = {}) {
    std::vector<ModelSource> sources;
    for (const std::string& name : names) sources.push_back(OpenSource(dir_.File(name), {}));
    Observer observer;
    return Compare(sources, data_, options, observer);
  }

  // log p of the rows, by summing over all states.
  std::vector<double> Exact(const std::string& name) {
    const EnergyModel model = EnergyModel::FromFile(dir_.File(name));
    std::vector<uint8_t> states;
    for (int state = 0; state < 16; ++state)
      for (int i = 0; i < kDimension; ++i) states.push_back(state >> i & 1);
    std::vector<float> all(16), energies(4);
    model.Energy(states, all);
    model.Energy(data_.values, energies);
    double z = 0;
    for (const float energy : all) z += std::exp(-energy);
    std::vector<double> result;
    for (const float energy : energies) result.push_back(-energy - std::log(z));
    return result;
  }

  TempDir dir_;
  const RowTable data_{4, kDimension, {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1}};
};

TEST_F(CompareJob, DifferencesAreOfTheSameRows) {
  const CompareResult result = Run({"linear.onnx", "mlp.onnx"});
  const std::vector<double> first = Exact("linear.onnx"), second = Exact("mlp.onnx");
  double mean = 0, difference = 0, squares = 0;
  for (size_t i = 0; i < 4; ++i) mean += first[i] / 4, difference += (second[i] - first[i]) / 4;
  for (size_t i = 0; i < 4; ++i) squares += std::pow(second[i] - first[i] - difference, 2);
  ASSERT_EQ(result.models.size(), 2u);
  EXPECT_EQ(result.rows, 4);
  EXPECT_NEAR(result.models[0].log_likelihood.value, mean, 1e-5);
  EXPECT_EQ(result.models[0].difference.value, 0);
  EXPECT_NEAR(result.models[1].difference.value, difference, 1e-5);
  EXPECT_NEAR(result.models[1].difference.standard_error, std::sqrt(squares / 3 / 4), 1e-5);
  EXPECT_EQ(result.models[1].log_z_error, 0);
}

TEST_F(CompareJob, OnlyModelsOfTheSameVariablesAreCompared) {
  const auto write = [&](const char* file, int64_t bits, const std::string& variables) {
    WriteBytes(dir_.File(file), WithMetadata(LinearModel(bits), "ort_ed.variables", variables));
  };
  const std::string three = R"(["a", "b", "c"]}])", four = R"(["a", "b", "c", "d"]}])";
  write("four.onnx", 4, R"([{"name": "x", "kind": "nominal", "labels": )" + four);
  write("three.onnx", 3, R"([{"name": "x", "kind": "nominal", "labels": )" + three);
  write("other.onnx", 4, R"([{"name": "y", "kind": "nominal", "labels": )" + four);
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        Run({"four.onnx", "three.onnx"});
      },
      "three.onnx' has 1 variables in 3 bits, but the rows have those of",
      "four.onnx': 1 variables in 4 bits");
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        Run({"four.onnx", "other.onnx"});
      },
      "have as many bits, but their variables");
  WriteBytes(dir_.File("wide.onnx"), LinearModel(5));
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        Run({"linear.onnx", "wide.onnx"});
      },
      "wide.onnx' has 5 variables, but");
}

TEST_F(CompareJob, LogZInTheMetadataIsTakenWithItsError) {
  WriteBytes(dir_.File("told.onnx"), WithMetadata(WithMetadata(LinearModel(kDimension), "ort_ed.log_z", "3"),
                                                  "ort_ed.log_z_error", "0.5"));
  const CompareResult result = Run({"linear.onnx", "told.onnx"});
  EXPECT_EQ(result.models[1].log_z.log_z, 3);
  EXPECT_NEAR(result.models[1].rows_error, 0, 1e-12);  // the same energies
  EXPECT_DOUBLE_EQ(result.models[1].difference.standard_error, 0.5);
  EXPECT_NEAR(result.models[1].difference.value, result.models[0].log_z.log_z - 3, 1e-6);
  const CompareResult computed = Run({"linear.onnx", "told.onnx"}, {.estimator = "exact"});
  EXPECT_NEAR(computed.models[1].difference.value, 0, 1e-6);
}

TEST_F(CompareJob, RunsTellTheirSettingsAndCost) {
  std::ofstream(dir_.File("rows.csv")) << "1,1,1,0\n0,0,0,1\n1,1,1,1\n0,0,0,0\n0,0,0,1\n";
  Observer quiet;
  for (const char* name : {"a", "b"}) {
    TrainOptions options;
    options.data.data = dir_.File("rows.csv");
    options.network.model = {"mlp", {{"hidden", name[0] == 'a' ? "4" : "8"}}};
    options.network.base = "data";
    options.batch.batch_size = 4;
    options.run.steps = name[0] == 'a' ? 20 : 30;
    options.run.log_every = {.steps = 10};
    options.run.threads = 1;
    TrainInFolder(options, dir_.File(name), ExistingRun::kRefuse, quiet);
  }
  const CompareResult result = Run({"a", "b/"});
  EXPECT_EQ(result.models[0].cost.steps, 20);
  EXPECT_EQ(result.models[1].cost.steps, 30);
  EXPECT_GT(result.models[1].cost.seconds.value_or(0), 0);
  EXPECT_GT(result.models[1].parameters, result.models[0].parameters);
  std::vector<std::string> keys;
  for (const DifferentSetting& setting : result.settings) keys.push_back(setting.key);
  EXPECT_THAT(keys, testing::ElementsAre("hidden", "steps"));
  EXPECT_THAT(result.settings[0].values, testing::ElementsAre("4", "8"));
  EXPECT_EQ(OpenSource(dir_.File("b/"), {}).ShortName(), "b");
}

TEST_F(CompareJob, TheBaseOfARunCountsToo) {
  std::ofstream(dir_.File("rows.csv")) << "1,1,1,0\n0,0,0,1\n1,1,1,1\n0,0,0,0\n0,0,0,1\n";
  Observer quiet;
  TrainOptions options;
  options.data.data = dir_.File("rows.csv");
  options.network.model = {"mlp", {{"hidden", "4"}}};
  options.network.base = {"made", {{"base_hidden", "4"}, {"base_steps", "30"}}};
  options.batch.batch_size = 4;
  options.run.steps = 20;
  options.run.log_every = {.steps = 10};
  options.run.threads = 1;
  TrainInFolder(options, dir_.File("run"), ExistingRun::kRefuse, quiet);
  const ModelSource run = OpenSource(dir_.File("run"), {});
  EXPECT_EQ(run.cost.steps, 20);
  EXPECT_EQ(run.cost.base_steps, 30);
  EXPECT_DOUBLE_EQ(run.cost.seconds.value_or(0), SecondsOfSteps(run.metrics.base).value_or(0) +
                                                     SecondsOfSteps(run.metrics.run).value_or(0));
  EXPECT_EQ(DescribeSteps(run.cost), "base 30 + 20");
  EXPECT_EQ(DescribeSteps(OpenSource(dir_.File("run/model.onnx"), {}).cost), "base ? + 20");
  EXPECT_EQ(DescribeSteps(OpenSource(dir_.File("run/base/model.onnx"), {}).cost), "30");
  EXPECT_EQ(DescribeSteps({}), "");
}

TEST_F(CompareJob, OtherVariablesCannotBeCompared) {
  WriteBytes(dir_.File("wide.onnx"), LinearModel(5));
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        Run({"linear.onnx", "wide.onnx"});
      },
      "wide.onnx", "5", "4");
  ExpectError(ErrorCode::kInvalidArgument, [&] { Run({"linear.onnx", ""}); });
}

TEST(SecondsOfSteps, LeavesOutPauses) {
  const std::vector<MetricsLine> lines = {{10, 100, {{"steps_per_second", 5}}},
                                          {15, 101, {{"validation_loss", 1}}},
                                          {30, 9000, {{"steps_per_second", 10}}}};
  EXPECT_DOUBLE_EQ(*SecondsOfSteps(lines), 4);
  EXPECT_FALSE(SecondsOfSteps({}));
}

}  // namespace
}  // namespace ort_ed
