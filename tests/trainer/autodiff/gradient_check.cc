#include "tests/trainer/autodiff/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/defs/parser.h>

#include "ort_ed/random.h"
#include "runtime/session.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/check/cast_to_double.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/kernels/ops/cpu_ops.h"

namespace ort_ed {
namespace {

constexpr uint32_t kTestPurpose = 0x6763;  // of RandomStream
constexpr int64_t kNewestKnownOpset = 17;  // of the onnx library that Debian 12 has
constexpr int64_t kElementsCompared = 48;  // a tensor, drawn at random if it has more
constexpr char kSeed[] = "seed";

int64_t Count(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Elements of a tensor of any type that the tests use, as doubles and back.
template <typename Visitor>
auto VisitType(int32_t type, Visitor&& visit) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
      return visit(float{});
    case onnx::TensorProto::DOUBLE:
      return visit(double{});
    case onnx::TensorProto::INT64:
      return visit(int64_t{});
    case onnx::TensorProto::INT32:
      return visit(int32_t{});
    case onnx::TensorProto::BOOL:
      return visit(bool{});
    case onnx::TensorProto::UINT8:
      return visit(uint8_t{});
    default:
      throw std::runtime_error("tensor type " + std::to_string(type) + " is not used in tests");
  }
}

Ort::Value MakeValue(const TestTensor& tensor, int32_t type) {
  Ort::AllocatorWithDefaultOptions allocator;
  return VisitType(type, [&]<typename T>(T) {
    Ort::Value value = Ort::Value::CreateTensor<T>(allocator, tensor.shape.data(), tensor.shape.size());
    std::transform(tensor.values.begin(), tensor.values.end(), value.GetTensorMutableData<T>(),
                   [](double x) { return static_cast<T>(x); });
    return value;
  });
}

TestTensor ReadValue(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  TestTensor tensor{info.GetShape(), {}};
  VisitType(static_cast<int32_t>(info.GetElementType()), [&]<typename T>(T) {
    const T* data = value.GetTensorData<T>();
    tensor.values.assign(data, data + info.GetElementCount());
    return 0;
  });
  return tensor;
}

}  // namespace

onnx::ModelProto ParseModel(const std::string& text, int64_t opset) {
  const bool has_header = text.find('<') < text.find('(');
  const std::string contrib =
      text.find("com.microsoft.") == std::string::npos ? "" : ", \"com.microsoft\" : 1";
  const std::string header =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + contrib + "]>\ntest ";
  onnx::ModelProto model;
  const std::string whole = has_header ? text : header + text;
  const auto status = onnx::OnnxParser::Parse(model, whole.c_str());
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage() + "\n" + whole);
  return model;
}

struct TestSession::Impl {
  Ort::Session session;
  std::vector<std::string> inputs, outputs;
  std::vector<int32_t> input_types;
};

TestSession::TestSession(const onnx::ModelProto& model, bool optimised, const Device& device) {
  const std::string bytes = model.SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(device, 1);
  if (!optimised) options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  RegisterCpuKernels(options);
  impl_ =
      std::make_unique<Impl>(Impl{OpenSession(std::as_bytes(std::span(bytes)), options, "test"), {}, {}, {}});
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < impl_->session.GetInputCount(); ++i) {
    impl_->inputs.push_back(impl_->session.GetInputNameAllocated(i, allocator).get());
    impl_->input_types.push_back(static_cast<int32_t>(
        impl_->session.GetInputTypeInfo(i).GetTensorTypeAndShapeInfo().GetElementType()));
  }
  for (size_t i = 0; i < impl_->session.GetOutputCount(); ++i) {
    impl_->outputs.push_back(impl_->session.GetOutputNameAllocated(i, allocator).get());
  }
}

TestSession::~TestSession() = default;

TestTensors TestSession::Run(const TestTensors& inputs) const {
  std::vector<Ort::Value> values;
  std::vector<const char*> input_names, output_names;
  for (size_t i = 0; i < impl_->inputs.size(); ++i) {
    values.push_back(MakeValue(inputs.at(impl_->inputs[i]), impl_->input_types[i]));
    input_names.push_back(impl_->inputs[i].c_str());
  }
  for (const auto& output : impl_->outputs) output_names.push_back(output.c_str());
  const auto results = impl_->session.Run({}, input_names.data(), values.data(), values.size(),
                                          output_names.data(), output_names.size());
  TestTensors outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs[impl_->outputs[i]] = ReadValue(results[i]);
  return outputs;
}

onnx::ModelProto WithGradients(const onnx::ModelProto& model, const std::vector<std::string>& wanted) {
  onnx::ModelProto result = model;
  PrepareForDifferentiation(result);
  onnx::GraphProto& graph = *result.mutable_graph();
  onnx::ValueInfoProto output = graph.output(0);
  *graph.add_input() = output;
  graph.mutable_input()->rbegin()->set_name(kSeed);
  GraphBuilder builder(result, "grad/");
  const auto gradients =
      Differentiate(builder, {.output = output.name(), .output_gradient = kSeed, .with_respect_to = wanted});
  const auto inputs = graph.input();
  graph.clear_output();
  for (const auto& [tensor, gradient] : gradients) {
    if (gradient.empty()) continue;
    builder.Named(builder.Existing(gradient), "d_" + tensor);
    onnx::ValueInfoProto& info = *graph.add_output();
    for (const auto& input : inputs) {
      if (input.name() == tensor) info = input;
    }
    info.set_name("d_" + tensor);
  }
  if (builder.opset() <= kNewestKnownOpset && graph.output_size() > 0) {
    onnx::checker::check_model(result);
  }
  return result;
}

namespace {

std::vector<int64_t> ConcreteShape(const onnx::ValueInfoProto& info, int64_t batch) {
  std::vector<int64_t> shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : batch);
  }
  return shape;
}

// Evenly spaced values in random order: no two are close, and none is near a multiple of the spacing's half.
TestTensor SeparatedValues(const std::vector<int64_t>& shape, double low, double high, uint64_t stream) {
  TestTensor tensor{shape, std::vector<double>(Count(shape))};
  RandomStream random(1, kTestPurpose, stream, 0);
  const auto count = static_cast<double>(tensor.values.size());
  const double offset = 0.2 + 0.1 * random.UniformDouble();
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const auto value = static_cast<float>(low + (high - low) * (static_cast<double>(i) + offset) / count);
    tensor.values[i] = value;  // a number that float and double have in common
  }
  for (size_t i = tensor.values.size(); i > 1; --i) {
    std::swap(tensor.values[i - 1], tensor.values[random.Below(static_cast<uint32_t>(i))]);
  }
  return tensor;
}

bool IsFloat(const onnx::ValueInfoProto& info) {
  return info.type().tensor_type().elem_type() == onnx::TensorProto::FLOAT;
}

double Dot(const TestTensor& a, const TestTensor& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0);
}

// The function whose gradient is checked: sum_i seed_i * output_i.
struct Objective {
  TestSession session;
  std::string output;
  double step;
  double tolerance;

  double operator()(const TestTensors& inputs, const TestTensor& seed) const {
    return Dot(session.Run(inputs).at(output), seed);
  }
};

Objective MakeObjective(const onnx::ModelProto& model, bool in_float) {
  const std::string output = model.graph().output(0).name();
  if (in_float) return {TestSession(model), output, 4e-3, 2e-2};
  try {
    return {TestSession(InDoublePrecision(model)), output, 1e-4, 2e-4};
  } catch (const Error&) {  // an operator without a double kernel
    return {TestSession(model), output, 4e-3, 2e-2};
  }
}

void Compare(const Objective& objective, const std::string& tensor, TestTensors inputs,
             const TestTensor& seed, const TestTensor& gradient) {
  ASSERT_EQ(gradient.shape, inputs.at(tensor).shape) << "shape of the gradient of " << tensor;
  double scale = 1e-2;  // of this gradient; a floor for tensors whose gradient is nearly zero
  for (double value : gradient.values) scale = std::max(scale, std::abs(value));
  const auto count = static_cast<int64_t>(gradient.values.size());
  RandomStream random(2, kTestPurpose, 0, 0);
  for (int64_t k = 0; k < std::min(count, kElementsCompared); ++k) {
    const int64_t i = count <= kElementsCompared ? k : random.Below(static_cast<uint32_t>(count));
    double& x = inputs.at(tensor).values[i];
    const double before = x;
    x = before + objective.step;
    const double above = objective(inputs, seed);
    x = before - objective.step;
    const double below = objective(inputs, seed);
    x = before;
    const double expected = (above - below) / (2 * objective.step);
    ASSERT_NEAR(gradient.values[i], expected, objective.tolerance * scale)
        << "gradient of " << tensor << ", element " << i;
  }
}

}  // namespace

TestTensors InputsFor(const onnx::ModelProto& model, double low, double high, int64_t batch) {
  TestTensors inputs;
  for (const auto& input : model.graph().input()) {
    TestTensor tensor = SeparatedValues(ConcreteShape(input, batch), low, high, inputs.size());
    if (!IsFloat(input)) {
      for (double& value : tensor.values) value = std::abs(std::round(value));
    }
    inputs[input.name()] = std::move(tensor);
  }
  return inputs;
}

PreparedCase Prepare(const GradientCase& test) {
  PreparedCase prepared{ParseModel(test.graph, test.opset), {}, {}};
  prepared.inputs = InputsFor(prepared.model, test.low, test.high, test.batch);
  for (const auto& input : prepared.model.graph().input())
    if (IsFloat(input) && input.name() != test.constant) prepared.wanted.push_back(input.name());
  return prepared;
}

TestTensor SeedFor(const TestTensor& output) { return SeparatedValues(output.shape, -1, 1, 1000); }

void CheckGradients(const GradientCase& test) {
  SCOPED_TRACE(std::string(test.name) + ", opset " + std::to_string(test.opset) + ": " + test.graph);
  const auto [model, wanted, inputs] = Prepare(test);
  const Objective objective = MakeObjective(model, test.in_float);
  const TestTensor seed = SeedFor(objective.session.Run(inputs).at(objective.output));
  TestTensors seeded = inputs;
  seeded[kSeed] = seed;
  onnx::ModelProto rewritten = model;
  if (test.rewrite) test.rewrite(rewritten);
  const TestTensors gradients = TestSession(WithGradients(rewritten, wanted)).Run(seeded);
  for (const auto& tensor : wanted) {
    const auto gradient = gradients.find("d_" + tensor);
    EXPECT_EQ(gradient == gradients.end(), tensor == test.zero) << "gradient of " << tensor;
    if (gradient != gradients.end()) Compare(objective, tensor, inputs, seed, gradient->second);
  }
}

}  // namespace ort_ed
