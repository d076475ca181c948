#include "models/graph/graph_builder.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/model_file.h"
#include "models/graph/standard_domain.h"
#include "tests/models/run_model.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;
using Shape = std::vector<int64_t>;

onnx::ModelProto NewModel(int64_t opset = GraphBuilder::kOpset) {
  onnx::ModelProto model;
  model.set_ir_version(GraphBuilder::kIrVersion);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("test");
  return model;
}

std::vector<std::string> Ops(const onnx::ModelProto& model) {
  std::vector<std::string> ops;
  for (const auto& node : model.graph().node()) ops.push_back(node.op_type());
  return ops;
}

TEST(GraphBuilder, GivesAModelWithoutVersionsThoseOfTheProject) {
  onnx::ModelProto model;
  GraphBuilder graph(model);
  EXPECT_EQ(graph.opset(), 17);
  EXPECT_EQ(StandardOpset(model), 17);
  EXPECT_EQ(model.ir_version(), 8);
}

TEST(GraphBuilder, KeepsTheVersionsOfAModelThatHasThem) {
  onnx::ModelProto model = NewModel(13);
  model.set_ir_version(7);
  GraphBuilder graph(model);
  EXPECT_EQ(graph.opset(), 13);
  EXPECT_EQ(model.ir_version(), 7);
  EXPECT_EQ(model.opset_import_size(), 1);
}

// A formula with every operator, computed by ONNX Runtime as it was written.
TEST(GraphBuilder, ReadsLikeTheMathematics) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  const Value w = graph.Parameter("w", Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  const Value y = MatMul(x, w) + graph.Constant(Shape{2}, std::vector<float>{0.5f, -0.5f});
  const Value z = (2.0f - y) * y / (1.0f + y * y) - 3.0f + (-y) / 4.0f;
  graph.Output(graph.Named(ReduceSum(z, {1}), "energy"), Shape{-1});
  CheckOnnx(model, "test");

  const std::vector<float> rows = {1, 0, 0, 1, 1, 1};
  std::vector<float> expected;
  for (int row = 0; row < 3; ++row) {
    float sum = 0;
    for (int j = 0; j < 2; ++j) {
      const float v = rows[2 * row] * static_cast<float>(1 + j) +
                      rows[2 * row + 1] * static_cast<float>(3 + j) + (j == 0 ? 0.5f : -0.5f);
      sum += (2 - v) * v / (1 + v * v) - 3 - v / 4;
    }
    expected.push_back(sum);
  }
  EXPECT_THAT(RunModel(model, rows, {3, 2}), Pointwise(FloatEq(), expected));
}

TEST(GraphBuilder, NamesAreUniqueAndStartWithThePrefix) {
  onnx::ModelProto model = NewModel();
  GraphBuilder first(model);
  const Value x = first.Input("x", Shape{-1, 2});
  Sigmoid(Sigmoid(x));
  GraphBuilder second(model, "grad/");
  const Value y = Sigmoid(second.Existing("x"));
  EXPECT_EQ(y.name, "grad/Sigmoid");
  GraphBuilder third(model);
  Sigmoid(third.Existing("x"));
  std::set<std::string> names;
  for (const auto& node : model.graph().node())
    EXPECT_TRUE(names.insert(node.output(0)).second) << node.output(0);
  EXPECT_EQ(names.size(), 4u);
}

TEST(GraphBuilder, AvoidsTheNamesInsideSubgraphs) {
  onnx::ModelProto model = NewModel();
  onnx::NodeProto& branch = *model.mutable_graph()->add_node();
  branch.set_op_type("If");
  branch.add_output("result");
  onnx::AttributeProto& body = *branch.add_attribute();
  body.set_name("then_branch");
  body.set_type(onnx::AttributeProto::GRAPH);
  onnx::NodeProto& inner = *body.mutable_g()->add_node();
  inner.set_op_type("Sigmoid");
  inner.add_output("Sigmoid");
  GraphBuilder graph(model);
  EXPECT_EQ(graph.FreshName("Sigmoid"), "Sigmoid_1");
  EXPECT_EQ(graph.FreshName("result"), "result_1");
}

TEST(GraphBuilder, RefusesANameThatIsTaken) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        graph.Input("x", Shape{-1, 2});
      },
      "'x'");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { graph.Named(x, "x"); }, "'x'");
}

TEST(GraphBuilder, SharesEqualConstants) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  EXPECT_EQ(graph.Scalar(2).name, graph.Scalar(2).name);
  EXPECT_NE(graph.Scalar(2).name, graph.Scalar(3).name);
  EXPECT_NE(graph.Scalar(2).name, graph.Constant(Shape{1}, std::vector<float>{2}).name);
  EXPECT_NE(graph.Ints(Shape{2}).name, graph.IntScalar(2).name);
  EXPECT_EQ(graph.graph().node_size(), 5);
}

TEST(GraphBuilder, RenamesATensorWhereverItIsUsed) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  const Value old = Sigmoid(x);
  const Value sum = ReduceSum(old + old, {1});
  const Value renamed = graph.Renamed(old, "activity");
  graph.Output(graph.Renamed(sum, "energy"), Shape{-1});
  EXPECT_EQ(renamed.name, "activity");
  EXPECT_THAT(Ops(model), ElementsAre("Sigmoid", "Add", "Constant", "ReduceSum"));
  CheckOnnx(model, "test");
  EXPECT_EQ(model.graph().node(1).input(0), "activity");
  EXPECT_EQ(model.graph().output(0).name(), "energy");
  EXPECT_NE(Sigmoid(x).name, old.name) << "the node keeps its name, so it stays taken";
}

TEST(GraphBuilder, ARenamedConstantIsNotSharedUnderItsOldName) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const std::string old = graph.Scalar(2).name;
  graph.Renamed(graph.Scalar(2), "two");
  EXPECT_NE(graph.Scalar(2).name, old);
}

TEST(GraphBuilder, CannotRenameWhatNoNodeComputes) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { graph.Renamed(x, "y"); }, "no node", "'x'");
}

TEST(GraphBuilder, WritesEveryKindOfAttribute) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  Op("Anything", {x},
     {{"a", int64_t{1}}, {"b", 0.5f}, {"c", "text"}, {"d", Shape{1, 2}}, {"e", std::vector<float>{1, 2}}});
  const auto& attributes = model.graph().node(0).attribute();
  ASSERT_EQ(attributes.size(), 5);
  EXPECT_EQ(attributes[0].i(), 1);
  EXPECT_EQ(attributes[1].f(), 0.5f);
  EXPECT_EQ(attributes[2].s(), "text");
  EXPECT_THAT(attributes[3].ints(), ElementsAre(1, 2));
  EXPECT_THAT(attributes[4].floats(), ElementsAre(1, 2));
}

TEST(GraphBuilder, NodesWithSeveralOutputs) {
  onnx::ModelProto model = NewModel();
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 2});
  const auto halves = graph.NodeWithOutputs("Split", std::vector{x}, 2, {{"axis", int64_t{1}}});
  ASSERT_EQ(halves.size(), 2u);
  graph.Output(graph.Renamed(halves[0] - halves[1], "energy"), Shape{-1, 1});
  CheckOnnx(model, "test");
  EXPECT_THAT(RunModel(model, {1, 0, 0, 1}, {2, 2}), ElementsAre(1, -1));
}

// Reductions take their axes as an attribute in older opsets and as an input in newer ones.
class Opset : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(GraphBuilder, Opset, testing::Values(11, 12, 13, 17, 18, 20));

TEST_P(Opset, ReductionsAndSqueezesTakeTheFormOfTheOpset) {
  onnx::ModelProto model = NewModel(GetParam());
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 3});
  const Value column = Unsqueeze(ReduceSum(x, {1}) + ReduceMean(x, {1}) + ReduceMax(x, {1}), {1});
  graph.Output(graph.Renamed(Squeeze(column, {1}), "energy"), Shape{-1});
  CheckOnnx(model, "test");
  EXPECT_THAT(RunModel(model, {1, 1, 1, 0, 0, 0}, {2, 3}), ElementsAre(5, 0));
}

TEST_P(Opset, WithoutAxesReducesAll) {
  onnx::ModelProto model = NewModel(GetParam());
  GraphBuilder graph(model);
  const Value x = graph.Input("x", Shape{-1, 3});
  graph.Output(graph.Renamed(ReduceSum(x, {}), "energy"), Shape{});
  EXPECT_THAT(RunModel(model, {1, 1, 1, 0, 0, 1}, {2, 3}), ElementsAre(4));
}

}  // namespace
}  // namespace ort_ed
