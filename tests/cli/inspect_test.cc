#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

#include "models/architectures/architectures.h"
#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/metadata.h"
#include "tests/cli/run_command.h"
#include "tests/support/onnx_models.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

onnx::ModelProto FromText(const std::string& text) {
  return ParseModel(ModelFromText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + text), "test");
}

class InspectTest : public testing::Test {
 protected:
  std::string Write(const std::string& bytes, const std::string& name = "m.onnx") {
    std::ofstream(folder_.File(name), std::ios::binary) << bytes;
    return folder_.File(name);
  }
  std::string Write(const onnx::ModelProto& model) { return Write(SerializeModel(model)); }

  json Json(const onnx::ModelProto& model) {
    const CommandResult result = RunOrtEd({"inspect", Write(model), "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return json::parse(result.out);
  }

  static json Operator(const json& summary, const std::string& op) {
    for (const json& entry : summary["operators"]) {
      if (entry["op"] == op) return entry;
    }
    ADD_FAILURE() << "no operator " << op;
    return {};
  }

  void ExpectBad(const std::string& path, const std::string& part, const std::string& other = "") {
    const CommandResult result = RunOrtEd({"inspect", path});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, AllOf(HasSubstr(path), HasSubstr(part), HasSubstr(other)));
    EXPECT_THAT(result.out, IsEmpty());
  }
  void ExpectBadSignature(const std::string& inputs, const std::string& outputs, const std::string& part) {
    ExpectBad(Write(FromText("g (" + inputs + ") => (" + outputs + ") { energy = Neg (x) }")), part);
  }

  TempDir folder_;
};

TEST_F(InspectTest, TellsAPersonEverything) {
  const EnergySpec spec{.architecture = "mlp", .dimension = 8, .base_mean = std::vector<float>(8, 0.3f)};
  const CommandResult result = RunOrtEd({"inspect", Write(BuildModel(spec))});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"mlp", "[batch, 8]", "opset 17", "hidden1.weight", "[8, 256]", "Gemm", "yes",
                           "Constant", "constant", "ort_ed.base_mean", "0.3,0.3"})
    EXPECT_THAT(result.out, HasSubstr(part));
}

// The figures of the network of the paper: 41.2 million multiply-and-adds in its convolutions.
TEST_F(InspectTest, CountsTheFlopsOfTheReferenceResnet) {
  const json summary = Json(BuildModel({.architecture = "resnet", .image_shape = {28, 28}}));
  constexpr int64_t kMultiplyAdds = 784 * 9 * 64 +                 // the first, on 28 x 28
                                    196 * (2 * 9 + 1) * 64 * 64 +  // stride 2, with shortcut, on 14 x 14
                                    49 * (2 * 9 + 1) * 64 * 64 +   // again, on 7 x 7
                                    49 * 12 * 9 * 64 * 64;         // six blocks
  constexpr int64_t kBiases = 64 * (784 + 3 * 196 + 3 * 49 + 12 * 49);
  EXPECT_EQ(Operator(summary, "Conv")["flops_per_row"], 2 * kMultiplyAdds + kBiases);
  EXPECT_EQ(Operator(summary, "Gemm")["flops_per_row"], 2 * 64 + 1);
  EXPECT_EQ(Operator(summary, "Reshape")["flops_per_row"], 0);
  EXPECT_NEAR(summary["flops_per_row"].get<double>(), 82.5e6, 0.5e6);
  EXPECT_EQ(summary["architecture"], "resnet");
  EXPECT_EQ(summary["dimension"], 784);
}

TEST_F(InspectTest, JsonHoldsParametersOperatorsAndMetadata) {
  const json summary = Json(BuildModel({.architecture = "ising", .dimension = 5}));
  EXPECT_EQ(summary["parameters"], json::parse(R"([{"name": "G", "shape": [5, 5], "elements": 25}])"));
  EXPECT_EQ(summary["parameter_count"], 25);
  EXPECT_EQ(Operator(summary, "MatMul")["flops_per_row"], 2 * 5 * 5);
  EXPECT_EQ(Operator(summary, "Transpose")["flops_per_row"], 0) << "J from G is computed once, not per row";
  EXPECT_EQ(Operator(summary, "MatMul")["trainable"], "yes");
  EXPECT_EQ(Operator(summary, "Equal")["trainable"], "constant");
  EXPECT_EQ(summary["metadata"][metadata_key::kDimension], "5");
  EXPECT_EQ(summary["gradient"], false);
}

TEST_F(InspectTest, OfAUsersModelWithoutMetadata) {
  const json summary = Json(FromText(R"(
    g (float[n, 3] rows) => (float[n, 1] u) {
      axes = Constant <value = int64[1] {1}> ()
      u = ReduceSum <keepdims = 1> (rows, axes)
    })"));
  EXPECT_EQ(summary["architecture"], nullptr);
  EXPECT_EQ(summary["input"], "rows");
  EXPECT_EQ(summary["flops_per_row"], 3);
}

TEST_F(InspectTest, OfMetadataThatIsNotUtf8) {
  onnx::ModelProto model = BuildModel({.architecture = "rbm", .dimension = 3});
  SetMetadata(model, "note", "caf\xe9");
  EXPECT_THAT(Json(model)["metadata"]["note"].get<std::string>(), testing::StartsWith("caf"));
}

// Shape -> Gather -> Concat -> Reshape, as exporters write a reshape with a dynamic batch.
TEST_F(InspectTest, FollowsShapesComputedInTheGraph) {
  const json summary = Json(FromText(R"(
    g (float[n, 6] x) => (float[n] energy) {
      shape = Shape (x)
      zero = Constant <value = int64[1] {0}> ()
      batch = Gather <axis = 0> (shape, zero)
      rest = Constant <value = int64[2] {2, 3}> ()
      wanted = Concat <axis = 0> (batch, rest)
      image = Reshape (x, wanted)
      axes = Constant <value = int64[2] {1, 2}> ()
      t = Tanh (image)
      energy = ReduceSum <keepdims = 0> (t, axes)
    })"));
  EXPECT_EQ(summary["flops_per_row"], 6 + 6);
}

TEST_F(InspectTest, OfOpsetsNewerThanTheOnnxLibrary) {
  onnx::ModelProto model = BuildModel({.architecture = {"mlp", {{"hidden", "4"}}}, .dimension = 3});
  model.mutable_opset_import(0)->set_version(21);
  model.set_ir_version(10);
  const json summary = Json(model);
  EXPECT_EQ(summary["opset"], 21);
  EXPECT_EQ(Operator(summary, "Gemm")["flops_per_row"], (2 * 3 + 1) * 4 + (2 * 4 + 1));
}

TEST_F(InspectTest, EveryBuiltInArchitectureIsTrainable) {
  for (const ArchitectureKind* architecture : Architectures()) {
    EnergySpec spec{.architecture = architecture->name, .image_shape = {4, 4}};
    if (spec.architecture.kind != "made") spec.base_mean.assign(16, 0.3f);  // which is a base itself
    const json summary = Json(BuildModel(spec));
    for (const json& op : summary["operators"]) EXPECT_NE(op["trainable"], "no") << architecture->name << op;
    EXPECT_TRUE(summary["flops_per_row"].is_number()) << architecture->name;
  }
}

TEST_F(InspectTest, AnUntrainableOperatorIsCalledSo) {
  const json summary = Json(FromText(R"(
    g (float[n, 3] x) => (float[n] energy) {
      shape = Constant <value_ints = [-1, 3, 1]> ()
      signal = Reshape (x, shape)
      waves = DFT (signal)
      axes = Constant <value_ints = [1, 2]> ()
      energy = ReduceSum <keepdims = 0> (waves, axes)
    })"));
  EXPECT_EQ(Operator(summary, "DFT")["trainable"], "no");
  EXPECT_EQ(Operator(summary, "DFT")["flops_per_row"], nullptr);
  EXPECT_EQ(summary["flops_per_row"], nullptr);
}

TEST_F(InspectTest, SaysWhatNoGradientSees) {
  const std::string path = Write(LookupModel());
  EXPECT_THAT(RunOrtEd({"inspect", path}).out, AllOf(HasSubstr("depends on x through Cast (node 'state')"),
                                                     HasSubstr("--gradient differences")));
  const json summary = json::parse(RunOrtEd({"inspect", path, "--json"}).out);
  EXPECT_EQ(summary["blind_spots"], json({{{"node", "state"}, {"operator", "Cast"}}}));
}

TEST_F(InspectTest, CallsOfTheModelsFunctionsAreWhatTheyCompute) {
  const json summary = Json(ParseModel(ModelFromText(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
      g (float[batch, 2] x) => (float[batch] energy) <float[2] w = {1, 2}> {
        h = local.twice (x)
        t = local.twice (h)
        energy = MatMul (t, w)
      }
      <domain: "local", opset_import: ["" : 17]> twice (a) => (b) { b = Add (a, a) })"),
                                       "test"));
  EXPECT_EQ(summary["operators"].size(), 2u) << summary["operators"];
  EXPECT_EQ(Operator(summary, "Add")["count"], 2);
  EXPECT_EQ(Operator(summary, "Add")["trainable"], "yes");
  EXPECT_EQ(summary["flops_per_row"], 2 * 2 + 4);
}

TEST_F(InspectTest, FilesThatAreNoModel) {
  ExpectBad(folder_.File("none.onnx"), "no such file");
  ExpectBad(folder_.path(), "folder");
  ExpectBad(Write(""), "is empty");
  ExpectBad(Write("0,1\n1,0\n"), "is not an ONNX file");
  const std::string bytes = SerializeModel(BuildModel({.architecture = "mlp", .dimension = 3}));
  ExpectBad(Write(bytes.substr(0, bytes.size() / 2)), "is truncated");
}

TEST_F(InspectTest, ModelsThatBreakTheContract) {
  ExpectBadSignature("float[n, 3] x, float[n, 3] y", "float[n] energy", "2 inputs ('x', 'y')");
  ExpectBadSignature("float[n, 1, 2, 2] x", "float[n] energy", "rank 2");
  ExpectBadSignature("int64[n, 3] x", "float[n] energy", "is int64");
  ExpectBadSignature("float[n, d] x", "float[n] energy", "must be fixed");
  ExpectBadSignature("float[n, 3] x", "float[n] a, float[n] b", "'energy'");
}

TEST_F(InspectTest, AGraphThatIsNotValid) {
  onnx::ModelProto model = BuildModel({.architecture = "mlp", .dimension = 3});
  model.mutable_graph()->mutable_node(0)->set_input(1, "nowhere");
  ExpectBad(Write(model), "nowhere");
}

TEST_F(InspectTest, ExternalDataOutsideTheModelsFolder) {
  onnx::ModelProto model = BuildModel({.architecture = "mlp", .dimension = 3});
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("../secret.bin");
  ExpectBad(Write(model), "hidden1.weight", "../secret.bin");
  location.set_value("/etc/passwd");
  ExpectBad(Write(model), "absolute path");
}

TEST_F(InspectTest, WritesTheCouplingsOfAnIsingModel) {
  const std::string lattice = Write(BuildModel(
      {.architecture = {"ising", {{"init", "lattice"}, {"coupling", "0.25"}}}, .image_shape = {3, 3}}));
  const std::string file = folder_.File("J.csv");
  const CommandResult result = RunOrtEd({"inspect", lattice, "--couplings", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ifstream lines(file);
  std::string first;
  std::getline(lines, first);
  std::stringstream cells(first);
  std::vector<double> row;
  for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
  const double on = 0.25;
  EXPECT_THAT(row, testing::Pointwise(testing::DoubleNear(1e-5), {0., on, on, on, 0., 0., on, 0., 0.}));
}

TEST_F(InspectTest, ModelWithoutCouplingsLeavesNoFile) {
  const std::string mlp = Write(BuildModel({.architecture = "mlp", .dimension = 6}));
  const CommandResult result = RunOrtEd({"inspect", mlp, "--couplings", folder_.File("J.csv")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr(mlp), HasSubstr("not quadratic")));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("J.csv")));
}

}  // namespace
}  // namespace ort_ed
