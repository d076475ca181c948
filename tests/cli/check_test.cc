#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

#include "models/energy_spec.h"
#include "models/graph_builder.h"
#include "models/model_file.h"
#include "tests/cli/run_command.h"
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
  spec.options["hidden"] = "8,8";
  spec.dimension = 10;
  return BuildModel(spec);
}

// Energies by an operator without gradient rule.
onnx::ModelProto DeterminantModel() {
  onnx::ModelProto model;
  model.mutable_graph()->set_name("determinant");
  GraphBuilder graph(model);
  const Value x = graph.Input("x", {{-1, 4}});
  const Value weights = graph.Parameter("weights", {{2, 2}}, {{1, 2, 3, 5}});
  const Value determinant = Op("Det", {MatMul(Reshape(x, {{-1, 2, 2}}), weights)});
  graph.Output(graph.Named(determinant, "energy"), {{-1}});
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
  const CommandResult result = RunOrtEd({"check", Written(folder, DeterminantModel())});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("Det"));
  EXPECT_THAT(result.err, HasSubstr("(Det)"));
  EXPECT_THAT(result.err, HasSubstr("gradient rule"));
}

TEST(CheckCommand, TheReportIsPrintedEvenIfTheCheckFails) {
  const TempDir folder;
  const CommandResult result = RunOrtEd({"check", Written(folder, DeterminantModel()), "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_FALSE(json["passed"]);
  EXPECT_EQ(json["missing_rules"][0]["operator"], "Det");
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
