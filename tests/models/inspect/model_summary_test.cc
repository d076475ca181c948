#include "models/inspect/model_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/architectures/energy_spec.h"
#include "models/inspect/model_flops.h"
#include "tests/models/run_model.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;

// A model with these inputs and outputs; the body does not matter to the contract.
onnx::ModelProto Signature(const std::string& inputs, const std::string& outputs) {
  return FromText("g (" + inputs + ") => (" + outputs + ") { energy = Neg (x) }");
}

void ExpectBroken(const std::string& inputs, const std::string& outputs, const std::string& part,
                  const std::string& other = "") {
  ExpectError(
      ErrorCode::kBadModel, [&] { CheckContract(Signature(inputs, outputs), "m.onnx"); },
      "'m.onnx' is no energy model", part, other);
}

TEST(Contract, OfAModelThatKeepsIt) {
  const EnergyContract contract = CheckContract(Signature("float[n, 7] rows", "float[n, 1] u"), "m.onnx");
  EXPECT_EQ(contract.input, "rows");
  EXPECT_EQ(contract.output, "u");
  EXPECT_EQ(contract.dimension, 7);
  EXPECT_EQ(contract.output_rank, 2);
  EXPECT_EQ(CheckContract(Signature("float[n, 7] x", "float[m] other, float[n] energy"), "m").output,
            "energy");
}

TEST(Contract, InitialisersAmongTheInputsAreNoInputs) {
  onnx::ModelProto model = Signature("float[n, 7] x, float[3] w", "float[n] energy");
  model.mutable_graph()->add_initializer()->set_name("w");
  EXPECT_EQ(CheckContract(model, "m").dimension, 7);
}

TEST(Contract, OutputsWithoutDeclaredShapeAreAccepted) {
  onnx::ModelProto model = Signature("float[n, 7] x", "float[n] energy");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_EQ(CheckContract(model, "m").output_rank, 0);
}

TEST(Contract, BrokenOnesAreNamedOneByOne) {
  const std::string good = "float[n] energy";
  ExpectBroken("", good, "0 inputs");
  ExpectBroken("float[n, 3] x, float[n, 2] y", good, "2 inputs ('x', 'y')", "exactly one");
  ExpectBroken("double[n, 3] x", good, "input 'x' is float64", "Cast");
  ExpectBroken("uint8[n, 3] x", good, "input 'x' is uint8");
  ExpectBroken("float[n, 1, 28, 28] x", good, "[n, 1, 28, 28]", "rank 2");
  ExpectBroken("float[n] x", good, "[n]", "rank 2");
  ExpectBroken("float[n, d] x", good, "[n, d]", "must be fixed");
  ExpectBroken("float[n, 0] x", good, "[n, 0]", "must be fixed");
  ExpectBroken("float[1, 3] x", good, "batch fixed at 1", "dynamic batch");
  ExpectBroken("float[n, 3] x", "", "no output");
  ExpectBroken("float[n, 3] x", "float[n] a, float[n] b", "outputs 'a', 'b'", "'energy'");
  ExpectBroken("float[n, 3] x", "double[n] energy", "output 'energy' is float64");
  ExpectBroken("float[n, 3] x", "float[n, 2] energy", "[n, 2]", "[batch] or [batch, 1]");
  ExpectBroken("float[n, 3] x", "float[n, 1, 1] energy", "[n, 1, 1]");
}

TEST(Summary, ListsParametersAndOperators) {
  const onnx::ModelProto model =
      BuildModel({.architecture = {"mlp", {{"hidden", "5"}, {"activation", "relu"}}}, .dimension = 3});
  const ModelSummary summary = Summarise(model, "m", {});
  EXPECT_EQ(summary.opset, 17);
  EXPECT_EQ(summary.ir_version, 8);
  EXPECT_EQ(summary.producer, "ort-ed");
  EXPECT_EQ(summary.ParameterCount(), 3 * 5 + 5 + 5 + 1);
  ASSERT_EQ(summary.parameters.size(), 4u);
  EXPECT_EQ(summary.parameters[0].name, "hidden1.weight");
  EXPECT_THAT(summary.parameters[0].shape, ElementsAre(3, 5));
  std::vector<std::string> ops;
  for (const auto& summarised : summary.operators) ops.push_back(summarised.op);
  EXPECT_THAT(ops, ElementsAre("Constant", "Gemm", "Relu", "Squeeze"));
  EXPECT_EQ(summary.operators[1].count, 2);
  EXPECT_EQ(summary.metadata.at("ort_ed.architecture"), "mlp");
  EXPECT_FALSE(summary.FlopsPerRow().has_value()) << "no shapes were given";
}

TEST(Summary, ListsTheOperatorsOfSubgraphsWhoseCostIsUnknown) {
  onnx::ModelProto model = FromText(R"(
    g (float[n, 2] x) => (float[n] energy) {
      w = Constant <value = float[2] {1, 2}> ()
      energy = MatMul (x, w)
    })");
  onnx::NodeProto& branch = *model.mutable_graph()->add_node();
  branch.set_op_type("If");
  branch.add_input("x");
  branch.add_attribute()->mutable_g()->add_node()->set_op_type("Tanh");
  const ModelSummary summary = Summarise(model, "m", {{"x", {1, 2}}, {"energy", {1}}});
  ASSERT_EQ(summary.operators.size(), 4u);
  EXPECT_EQ(summary.operators[1].op, "If");
  EXPECT_FALSE(summary.operators[1].flops_per_row.has_value());
  EXPECT_EQ(summary.operators[2].flops_per_row, 4);
  EXPECT_EQ(summary.operators[3].op, "Tanh");
  EXPECT_FALSE(summary.FlopsPerRow().has_value());
}

TEST(Summary, WhatDoesNotDependOnTheRowCostsNothing) {
  const onnx::ModelProto model = FromText(R"(
    g (float[n, 2] x) => (float[n] energy) {
      w = Constant <value = float[2] {1, 2}> ()
      v = Tanh (w)
      energy = MatMul (x, v)
    })");
  EXPECT_EQ(Summarise(model, "m", {{"x", {1, 2}}, {"w", {2}}, {"v", {2}}, {"energy", {1}}}).FlopsPerRow(), 4);
}

onnx::NodeProto NodeOf(const std::string& text) {
  return FromText("g (float[1] a, float[1] b, float[1] c) => (float[1] y) { " + text + " }").graph().node(0);
}

TEST(Flops, AreThoseOfTheFormulas) {
  const auto flops = [](const std::string& node, const TensorShapes& shapes) {
    return NodeFlops(NodeOf(node), shapes);
  };
  EXPECT_EQ(flops("y = MatMul (a, b)", {{"a", {1, 3}}, {"b", {3, 5}}, {"y", {1, 5}}}), 2 * 3 * 5);
  EXPECT_EQ(flops("y = MatMul (a, b)", {{"a", {7, 1, 3}}, {"b", {3, 5}}, {"y", {7, 1, 5}}}), 7 * 2 * 3 * 5);
  EXPECT_EQ(flops("y = Gemm (a, b)", {{"a", {1, 3}}, {"b", {3, 5}}, {"y", {1, 5}}}), 2 * 3 * 5);
  EXPECT_EQ(flops("y = Gemm (a, b, c)", {{"a", {1, 3}}, {"b", {3, 5}}, {"y", {1, 5}}}), 2 * 3 * 5 + 5);
  EXPECT_EQ(flops("y = Gemm <transA = 1> (a, b)", {{"a", {3, 1}}, {"b", {3, 5}}, {"y", {1, 5}}}), 2 * 3 * 5);
  EXPECT_EQ(flops("y = Conv (a, b)", {{"a", {1, 4, 9, 9}}, {"b", {6, 2, 3, 3}}, {"y", {1, 6, 7, 7}}}),
            2 * (6 * 7 * 7) * (2 * 3 * 3));
  EXPECT_EQ(flops("y = Conv (a, b, c)", {{"a", {1, 4, 9}}, {"b", {6, 4, 3}}, {"y", {1, 6, 7}}}),
            2 * (6 * 7) * (4 * 3) + 6 * 7);
  EXPECT_EQ(
      flops("y = ConvTranspose (a, b)", {{"a", {1, 4, 7, 7}}, {"b", {4, 2, 3, 3}}, {"y", {1, 2, 9, 9}}}),
      2 * (4 * 7 * 7) * (2 * 3 * 3));
  EXPECT_EQ(flops("y = Tanh (a)", {{"y", {1, 5}}}), 5);
  EXPECT_EQ(flops("y = ReduceSum (a)", {{"a", {1, 5}}, {"y", {1}}}), 5);
  EXPECT_EQ(flops("y = Sum (a, b, c)", {{"y", {1, 5}}}), 10);
  EXPECT_EQ(flops("y = MaxPool <kernel_shape = [2, 2]> (a)", {{"a", {1, 1, 4, 4}}, {"y", {1, 1, 2, 2}}}), 16);
  EXPECT_EQ(
      flops("y = Einsum <equation = \"bi, ij -> bj\"> (a, b)", {{"a", {1, 3}}, {"b", {3, 5}}, {"y", {1, 5}}}),
      2 * 3 * 5);
  EXPECT_EQ(flops("y = Reshape (a, b)", {}), 0);
}

TEST(Flops, AreUnknownRatherThanWrong) {
  EXPECT_EQ(NodeFlops(NodeOf("y = MatMul (a, b)"), {{"a", {1, 3}}}), std::nullopt);
  EXPECT_EQ(NodeFlops(NodeOf("y = NeverHeardOf (a)"), {{"y", {1}}}), std::nullopt);
  EXPECT_EQ(
      NodeFlops(NodeOf("y = Einsum <equation = \"...i,ij->...j\"> (a, b)"), {{"a", {1, 3}}, {"b", {3, 5}}}),
      std::nullopt);
  onnx::NodeProto custom = NodeOf("y = Tanh (a)");
  custom.set_domain("my.ops");
  EXPECT_EQ(NodeFlops(custom, {{"y", {1}}}), std::nullopt);
}

}  // namespace
}  // namespace ort_ed
