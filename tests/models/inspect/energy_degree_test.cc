#include "models/inspect/energy_degree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/metadata.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

onnx::ModelProto Model(const std::string& nodes) {
  return ParseModel(
      ModelFromText(
          "<ir_version: 8, opset_import: [\"\": 17]> g (float[N, 3] x) => (float[N] energy) "
          "<float[3, 3] W = {0, 1, 2, 1, 0, 3, 2, 3, 0}, float[3] b = {1, 2, 3}, int64[1] axes = {1}> {" +
          nodes + "}"),
      "the model");
}

TEST(EnergyDegree, AddsInProductsAndNotInSums) {
  EXPECT_EQ(EnergyDegree(Model("energy = MatMul(x, b)")), 1);
  EXPECT_EQ(EnergyDegree(Model("h = MatMul(x, W) p = Mul(h, x) energy = ReduceSum<keepdims = 0>(p, axes)")),
            2);
  EXPECT_EQ(EnergyDegree(
                Model("h = MatMul(x, W) g = Gemm(h, W, x) s = ReduceSumSquare<axes = [1], keepdims = 0>(g) "
                      "l = MatMul(x, b) energy = Sub(s, l)")),
            2);
  EXPECT_EQ(EnergyDegree(Model("h = MatMul(x, W) p = Mul(h, x) q = Mul(p, x) r = Neg(q) "
                               "energy = ReduceSum<keepdims = 0>(r, axes)")),
            3);
}

TEST(EnergyDegree, WhatIsMadeOfParametersAloneIsConstant) {
  EXPECT_EQ(EnergyDegree(Model("e = Exp(b) s = Relu(W) t = MatMul(s, e) energy = MatMul(x, t)")), 1);
  EXPECT_EQ(
      EnergyDegree(Model("s = Shape(x) f = Cast<to = 1>(s) m = ReduceMax<keepdims = 0>(f) l = MatMul(x, b) "
                         "energy = Div(l, m)")),
      1);
}

TEST(EnergyDegree, OtherFunctionsOfTheInputAreNoPolynomials) {
  for (const char* nodes : {
           "r = Relu(x) energy = MatMul(r, b)",
           "l = MatMul(x, b) q = Mul(l, l) r = Relu(l) energy = Add(q, r)",
           "l = MatMul(x, b) energy = Div(l, l)",
           "p = Greater(x, W) w = Where(p, x, x) energy = MatMul(w, b)",
           "i = Cast<to = 7>(x) g = Gather<axis = 0>(b, i) energy = ReduceSum<keepdims = 0>(g, axes)",
           "r = RandomNormalLike(x) energy = MatMul(r, b)",
           "n = RandomNormal<shape = [3]>() energy = MatMul(x, n)",
           "c = Constant<value = bool {1}>() y = If<then_branch = t () => (float[N, 3] a) { a = Exp(x) }, "
           "else_branch = e () => (float[N, 3] d) { d = Neg(x) }>(c) energy = MatMul(y, b)",
       })
    EXPECT_EQ(EnergyDegree(Model(nodes)), std::nullopt) << nodes;
}

TEST(EnergyDegree, IsInTheMetadataOfModelsThatHaveOne) {
  for (const bool with_base : {false, true}) {
    EnergySpec spec{.architecture = "ising", .dimension = 4};
    if (with_base) spec.base_mean.assign(4, 0.3f);
    EXPECT_EQ(GetMetadata(BuildModel(spec), metadata_key::kDegree), "2");
    for (const char* other : {"rbm", "mlp"}) {
      spec.architecture = other;
      EXPECT_EQ(GetMetadata(BuildModel(spec), metadata_key::kDegree), "") << other;
    }
  }
}

TEST(EnergyDegree, AClaimThatIsNotTrueIsRemoved) {
  onnx::ModelProto model = Model("r = Relu(x) energy = MatMul(r, b)");
  SetMetadata(model, metadata_key::kDegree, "2");
  NoteDegree(model);
  EXPECT_EQ(GetMetadata(model, metadata_key::kDegree), "");
}

}  // namespace
}  // namespace ort_ed
