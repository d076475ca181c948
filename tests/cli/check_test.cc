#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>
#include <sys/wait.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_file.h"
#include "tests/cli/run_command.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::HasSubstr;

std::string Written(const TempDir& folder, const onnx::ModelProto& model) {
  const std::string path = folder.path() / "model.onnx";
  std::ofstream(path, std::ios::binary) << SerializeModel(model);
  return path;
}

onnx::ModelProto MlpModel() {
  EnergySpec spec;
  spec.architecture = "mlp";
  spec.architecture.options["hidden"] = "8,8";
  spec.dimension = 10;
  return BuildModel(spec);
}

// Energies by an operator without gradient rule.
onnx::ModelProto FourierModel() {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("fourier");
  GraphBuilder graph(model);
  const Value x = graph.Input("x", {{-1, 4}});
  const Value weights = graph.Parameter("weights", {{2, 2}}, {{1, 2, 3, 5}});
  const Value waves = Op("DFT", {MatMul(Reshape(x, {{-1, 2, 2}}), weights)});
  graph.Output(graph.Named(ReduceSum(waves, {1, 2}), "energy"), {{-1}});
  return model;
}

TEST(CheckCommand, AGoodModelPasses) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"check", Written(folder, MlpModel())});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[batch, 10]"));
  EXPECT_THAT(result.out, HasSubstr("agrees"));
  EXPECT_THAT(result.out, HasSubstr("passed"));
}

TEST(CheckCommand, Json) {
  const TempDir folder;
  const CommandResult result =
      RunOrtEd({"check", Written(folder, MlpModel()), "--json", "--rows", "2", "--seed", "9"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json["passed"]);
  EXPECT_EQ(json["dimension"], 10);
  ASSERT_FALSE(json["gradients"].empty());
  for (const auto& gradient : json["gradients"]) EXPECT_LT(gradient["relative_error"], 1e-3) << gradient;
}

TEST(CheckCommand, AnOperatorWithoutRuleIsNamed) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"check", Written(folder, FourierModel())});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("DFT"));
  EXPECT_THAT(result.err, HasSubstr("(DFT)"));
  EXPECT_THAT(result.err, HasSubstr("gradient rule"));
}

TEST(CheckCommand, TheReportIsPrintedEvenIfTheCheckFails) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"check", Written(folder, FourierModel()), "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_FALSE(json["passed"]);
  EXPECT_EQ(json["missing_rules"][0]["operator"], "DFT");
}

// DFT has no rule; here only the input is behind it.
onnx::ModelProto ModelWithoutInputGradient() {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("no_input_gradient");
  GraphBuilder graph(model);
  const Value x = graph.Input("x", {{-1, 2}});
  const Value weights = graph.Parameter("weights", {{4}}, {{0.5, -1, 2, 1}});
  const Value h = Op("DFT", {Reshape(x, {{-1, 2, 1}})}, {{"axis", int64_t{1}}});
  graph.Output(graph.Named(MatMul(Reshape(h, {{-1, 4}}), weights), "energy"), {{-1}});
  return model;
}

TEST(CheckCommand, AModelMayDoWithoutInputGradient) {
  const TempDir folder;
  const std::string path = Written(folder, ModelWithoutInputGradient());
  const CommandResult text = RunOrtEd({"check", path});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("DFT"));
  EXPECT_THAT(text.out, HasSubstr("can be trained"));
  EXPECT_THAT(text.out, HasSubstr("gradient-guided samplers need --gradient differences"));
  const auto json = nlohmann::json::parse(RunOrtEd({"check", path, "--json"}).out);
  EXPECT_TRUE(json["trainable"]);
  EXPECT_FALSE(json["input_gradient"]);
}

TEST(CheckCommand, ABrokenContractIsJsonToo) {
  const TempDir folder;
  onnx::ModelProto model = MlpModel();
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(4);
  const CommandResult result = RunOrtEd({"check", Written(folder, model), "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_FALSE(json["passed"]);
  ASSERT_EQ(json["problems"].size(), 1u);
  EXPECT_THAT(json["problems"][0].get<std::string>(), HasSubstr("batch"));
}

TEST(CheckCommand, AReportThatCannotBeWrittenIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const TempDir folder;
  const std::string command =
      std::string(ORT_ED_COMMAND) + " check " + Written(folder, MlpModel()) + " > /dev/full 2> /dev/null";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(CheckCommand, WhatNoGradientSeesIsNamed) {
  const TempDir folder;
  const std::string path = folder.path() / "lookup.onnx";
  std::ofstream(path, std::ios::binary) << LookupModel();
  const CommandResult result = RunOrtEd({"check", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("depends on x through Cast (node 'state')"));
  EXPECT_THAT(result.out, HasSubstr("--gradient differences"));
  const auto json = nlohmann::json::parse(RunOrtEd({"check", path, "--json"}).out);
  EXPECT_EQ(json["input_gradient"], false);
  EXPECT_EQ(json["blind_spots"], nlohmann::json({{{"node", "state"}, {"operator", "Cast"}}}));
}

TEST(CheckCommand, WhatIsNotTrainedIsListed) {
  const TempDir folder;
  const std::string path = folder.path() / "scaled.onnx";
  std::ofstream(path, std::ios::binary) << ModelFromText(R"(<ir_version: 8, opset_import: ["": 17]>
      scaled (float[batch, 3] x) => (float[batch] energy)
      <float[3] w = {0.3, -0.7, 1.1}, float scale = {0.125}> {
        a = Mul(x, scale) b = Tanh(a) energy = MatMul(b, w) })");
  const CommandResult result = RunOrtEd({"check", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not trained, unless --trainable names them:\n  scale: a number"));
  const auto json = nlohmann::json::parse(RunOrtEd({"check", path, "--json"}).out);
  EXPECT_EQ(json["not_trained"][0]["tensor"], "scale");
  const auto all = nlohmann::json::parse(RunOrtEd({"check", path, "--json", "--trainable", "scale"}).out);
  EXPECT_TRUE(all["not_trained"].empty());
  EXPECT_EQ(all["gradients"].size(), 3u);
  EXPECT_THAT(RunOrtEd({"check", path, "--frozen", "nothing"}).err, HasSubstr("which no parameter"));
}

TEST(CheckCommand, BadInput) {
  const TempDir folder;
  EXPECT_EQ(RunOrtEd({"check", folder.path() / "nothing.onnx"}).exit_code, 1);
  EXPECT_EQ(RunOrtEd({"check", Written(folder, MlpModel()), "--rows", "0"}).exit_code, 2);
  const std::string text = folder.path() / "text.onnx";
  std::ofstream(text) << "no model";
  const CommandResult result = RunOrtEd({"check", text});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("text.onnx"));
}

}  // namespace
}  // namespace ort_ed
