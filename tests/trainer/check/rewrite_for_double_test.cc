#include "trainer/check/rewrite_for_double.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/trainer/autodiff/gradient_cases.h"
#include "trainer/check/cast_to_double.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

// Whatever the operator's case computes in float, its double form computes, too.
void ExpectSameInDouble(const GradientCase& test) {
  SCOPED_TRACE(test.graph);
  onnx::ModelProto model = ParseModel(test.graph, test.opset);
  const TestTensors inputs = InputsFor(model, test.low, test.high);
  const auto expected = TestSession(model).Run(inputs);
  UseDoubleForms(model);
  const auto result = TestSession(InDoublePrecision(model)).Run(inputs);
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(result.at(name).shape, tensor.shape);
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      ASSERT_NEAR(result.at(name).values[i], tensor.values[i], 2e-6 * (1 + std::abs(tensor.values[i]))) << i;
    }
  }
}

TEST(DoubleFormsTest, Activations) {
  for (const GradientCase& test : ActivationCases()) ExpectSameInDouble(test);
}

TEST(DoubleFormsTest, Elementwise) {
  for (const GradientCase& test : ElementwiseCases()) {
    const std::string name = test.name;
    if (name == "Erf" || name == "Mean") ExpectSameInDouble(test);
  }
}

TEST(DoubleFormsTest, Convolutions) {
  for (const GradientCase& test : ConvolutionCases()) {
    if (std::string(test.name) == "Conv") ExpectSameInDouble(test);
  }
}

TEST(DoubleFormsTest, Pooling) {
  for (const GradientCase& test : PoolingCases()) {
    const std::string name = test.name;
    if (!name.ends_with("LpPool") && name != "MaxUnpool") ExpectSameInDouble(test);
  }
}

TEST(DoubleFormsTest, Normalisation) {
  for (const GradientCase& test : NormalizationCases()) {
    if (std::string(test.name) == "InstanceNormalization") ExpectSameInDouble(test);
  }
}

}  // namespace
}  // namespace ort_ed
