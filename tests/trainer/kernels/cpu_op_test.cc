#include "trainer/kernels/ops/cpu_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/session.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

// One of its tasks fails, on whichever thread.
struct FailingOp {
  static constexpr char kName[] = "Failing";
  static constexpr size_t kInputs = 1, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit FailingOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    call.Out(0, call.Shape(0));
    call.kernels().run_tasks(64, [](size_t i) { Require(i != 17, "task 17 has no memory"); });
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
};

TEST(CpuOpTest, WhatATaskThrowsIsTheErrorOfTheCall) {
  onnx::ModelProto model = ParseModel("(float[3] x) => (float[3] y) { y = ort_ed.Failing(x) }");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("ort_ed");
  opset.set_version(1);
  const Registered<FailingOp> op;
  Ort::CustomOpDomain domain("ort_ed");
  domain.Add(&op);
  Ort::SessionOptions options = MakeSessionOptions({}, 2);
  options.Add(domain);
  const std::string bytes = model.SerializeAsString();
  Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, "test");

  float values[3] = {};
  const int64_t shape[] = {3};
  const Ort::Value x = Ort::Value::CreateTensor<float>(HostMemory(), values, 3, shape, 1);
  const char *input = "x", *output = "y";
  for (int i = 0; i < 50; ++i) {
    try {
      session.Run({}, &input, &x, 1, &output, 1);
      FAIL() << "nothing was thrown";
    } catch (const Ort::Exception& exception) {
      EXPECT_THAT(exception.what(), testing::HasSubstr("Failing: task 17 has no memory"));
    }
  }
}

}  // namespace
}  // namespace ort_ed
