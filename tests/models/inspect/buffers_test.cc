#include "models/inspect/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

onnx::ModelProto Model(const std::string& initialisers, const std::string& nodes, int opset = 17) {
  return ParseModel(
      ModelFromText("<ir_version: 8, opset_import: [\"\": " + std::to_string(opset) +
                    "]> g (float[N, 3] x) => (float[N, 3] y) <" + initialisers + "> {" + nodes + "}"),
      "the model");
}

// Why the initialiser `c` is no parameter; "" if it is one.
std::string Why(const onnx::ModelProto& model) {
  for (const auto& [name, why] : SortInitialisers(model).buffers)
    if (name == "c") return why;
  return "";
}

std::string Why(const std::string& initialiser, const std::string& nodes) {
  return Why(Model(initialiser, nodes));
}

onnx::ModelProto Renamed(onnx::ModelProto model, const std::string& name) {
  for (auto& tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.name() == "c") tensor.set_name(name);
  for (auto& node : *model.mutable_graph()->mutable_node())
    for (auto& input : *node.mutable_input())
      if (input == "c") input = name;
  return model;
}

TEST(Buffers, AreToldByTheirValues) {
  onnx::ModelProto mask = Model("float[2,2] c = {0, 1, 0, 0}", "y = Add(x, c)");
  FindInitialiser(mask, "c")->set_float_data(1, -INFINITY);
  EXPECT_EQ(Why(mask), "holds -inf");
  FindInitialiser(mask, "c")->set_float_data(1, -3.4e38f);
  EXPECT_EQ(Why(mask), "a mask of 0 and large negative numbers");
  EXPECT_EQ(Why("float[1,3] c = {0, 1, 2}", "y = Add(x, c)"), "counts 0, 1, 2, ...");
  EXPECT_EQ(Why("float[4] c = {1, 0.1, 0.01, 0.001}", "y = Identity(x) z = Sin(c)"),
            "frequencies of positions");
}

TEST(Buffers, AreToldByTheirUse) {
  EXPECT_EQ(Why("float c = {2}", "y = Pow(x, c)"), "an exponent");
  EXPECT_EQ(Why("float c = {0.00001}", "a = Add(x, c) y = Sqrt(a)"), "an epsilon");
  EXPECT_EQ(Why("float c = {0.125}", "y = Mul(x, c)"), "a number that rescales");
  EXPECT_EQ(Why("float c = {6}", "y = Clip(x, , c)"), "a bound");
  EXPECT_EQ(Why("float[2,2] c = {0, 1, 1, 0}", "y = Mul(x, c)"), "a mask of 0 and 1");
  EXPECT_EQ(Why("float[2] c = {1, 2}", "y = Resize(x, , c)"), "scales of Resize");
  EXPECT_EQ(Why("float[3] s = {1, 2, 4}, float[3] b = {1, 2, 4}, float[3] c = {0.5, 0.6, 0.1}",
                "y = BatchNormalization(x, s, b, c, c)"),
            "statistics of BatchNormalization");
}

TEST(Buffers, AreToldByTheirNames) {
  const onnx::ModelProto numbers = Model("float[3] c = {0.5, 0.25, 0.125}", "y = Mul(x, c)");
  EXPECT_THAT(SortInitialisers(numbers).buffers, IsEmpty());
  for (const char* name :
       {"/head/Constant_3_output_0", "lifted_tensor_0", "attention.mask", "rotary.inv_freq"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(SortInitialisers(Renamed(numbers, name)).buffers.size(), 1u);
  }
  // A transposed weight, an attribute of the program, an entry of a list of layers.
  for (const char* name : {"onnx::MatMul_12", "mask_token", "0.weight", "val_3.bias"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(SortInitialisers(Renamed(numbers, name)).buffers, IsEmpty());
  }
}

TEST(Buffers, LayerNormalizationWithoutWeightsHasConstants) {
  const onnx::ModelProto model =
      Model("float[3] c = {1, 1, 1}, float[3] bias = {0, 0, 0}", "y = LayerNormalization(x, c, bias)");
  EXPECT_THAT(SortInitialisers(model).parameters, ElementsAre("c", "bias"));  // as training begins
  EXPECT_THAT(SortInitialisers(Renamed(model, "val_7")).parameters, ElementsAre("bias"));
}

TEST(Buffers, WhatMayHaveBeenDrawnIsAParameter) {
  EXPECT_EQ(Why("float[3] c = {0, 0, 0}", "y = Add(x, c)"), "");
  EXPECT_EQ(Why("float[3] c = {1, 1, 1}", "y = Mul(x, c)"), "");
  EXPECT_EQ(Why("float[4] c = {0, 1, 1, 0}", "y = Add(x, c)"), "") << "a bias of forget gates";
  EXPECT_EQ(Why("float[2,2] c = {1, 0, 0, 1}", "y = MatMul(x, c)"), "") << "an identity";
  EXPECT_EQ(Why("float c = {1}", "y = Mul(x, c)"), "") << "a scale as learning begins";
  EXPECT_EQ(Why("float[1] c = {0.5}", "y = Add(x, c)"), "");
  EXPECT_EQ(Why("float[1] c = {0.25}", "y = PRelu(x, c)"), "");
  EXPECT_EQ(Why("float[3,3] c = {0.5, 0.1, 0, 0, 0.2, 0.3, 0.4, 0, 0.7}", "y = MatMul(x, c)"), "");
}

TEST(Buffers, FoldedMasksKeepTheirZeros) {
  const auto masked = [](const std::string& initialiser) {
    return SortInitialisers(Model(initialiser, "y = MatMul(x, c)")).masked;
  };
  // Of a masked autoencoder: rows see nothing, the first, the first two.
  EXPECT_THAT(masked("float[3,3] c = {0, 0, 0, 0.5, 0, 0, 0.7, -0.2, 0}"), ElementsAre("c"));
  EXPECT_THAT(masked("float[3,3] c = {0.1, 0, 0.4, 0.5, 0.2, 0, 0, -0.2, 0.3}"), IsEmpty());  // scattered
  EXPECT_THAT(masked("float[3,3] c = {0, 0, 0, 0.5, 0.1, 0.3, 0.7, -0.2, 0.5}"),
              IsEmpty());  // a row of zeros
  EXPECT_THAT(masked("float[2,3] c = {0, 0, 0, 0, 0, 0}"), IsEmpty());
  // A convolution that does not see its own place nor what comes after.
  EXPECT_THAT(masked("float[2,1,1,3] c = {0.5, 0, 0, 0.3, 0, 0}"), ElementsAre("c"));
}

}  // namespace
}  // namespace ort_ed
