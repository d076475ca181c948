#include "trainer/graph/half_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/model_edits.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

using onnx::TensorProto;

// The initialiser `w` is stored as `type` (ONNX's number), and used as float.
onnx::ModelProto Stored(int32_t type) {
  onnx::ModelProto model =
      ParseModel("(float[N,3] x) => (float[N,3] y) <float[3] w = {0.3, -0.7, 1.0}> { v = Cast<to = " +
                     std::to_string(type) + ">(w) u = Cast<to = 1>(v) h = Mul(x, u) y = Tanh(h) }",
                 21);
  model.mutable_graph()->mutable_node(0)->set_name("ort_ed_widened/w");
  NarrowParameters(model);
  return model;
}

class HalfParameters : public testing::TestWithParam<int32_t> {};

TEST_P(HalfParameters, BecomeFloatAndComputeTheSame) {
  const onnx::ModelProto model = Stored(GetParam());
  ASSERT_EQ(model.graph().initializer(0).data_type(), GetParam());
  ASSERT_EQ(model.graph().node_size(), 3);
  onnx::ModelProto wide = model;
  EXPECT_THAT(WidenParameters(wide), testing::IsEmpty());
  EXPECT_EQ(wide.graph().initializer(0).data_type(), TensorProto::FLOAT);
  EXPECT_EQ(wide.graph().initializer(0).name(), "w");
  const TestTensors inputs = InputsFor(model);
  EXPECT_EQ(TestSession(wide).Run(inputs).at("y").values, TestSession(model).Run(inputs).at("y").values);
  const TestTensors gradients = TestSession(WithGradients(wide, {"w"})).Run([&] {
    TestTensors seeded = inputs;
    seeded["seed"] = {{3, 3}, std::vector<double>(9, 1.0)};
    return seeded;
  }());
  EXPECT_THAT(gradients.at("d_w").values, testing::Each(testing::Ne(0)));
}

TEST_P(HalfParameters, AreWrittenBackAsTheyWere) {
  const onnx::ModelProto model = Stored(GetParam());
  onnx::ModelProto back = model;
  WidenParameters(back);
  NarrowParameters(back);
  EXPECT_EQ(back.SerializeAsString(), model.SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(Types, HalfParameters,
                         testing::Values(TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::DOUBLE));

TEST(WidenParametersTest, DoublesThatFloatDoesNotHoldAreNamed) {
  onnx::ModelProto model = Stored(TensorProto::DOUBLE);
  TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  const std::vector<double> digits = {0.1, 0.2, 0.3};
  tensor.set_raw_data(digits.data(), digits.size() * sizeof(double));
  const std::string before = model.SerializeAsString();
  EXPECT_THAT(WidenParameters(model), testing::ElementsAre("w"));
  EXPECT_EQ(model.SerializeAsString(), before);
}

}  // namespace
}  // namespace ort_ed
