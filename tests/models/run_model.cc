#include "tests/models/run_model.h"

#include <cstring>
#include <span>
#include <stdexcept>

#include "ort_ed/random.h"
#include "runtime/session.h"
#include "tests/support/onnx_models.h"

namespace ort_ed {
namespace {

constexpr uint32_t kRows = 0x74657374;
constexpr uint32_t kParameters = 0x74657375;

onnx::TensorProto& FindParameter(onnx::ModelProto& model, const std::string& name) {
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == name) return tensor;
  }
  throw std::runtime_error("no parameter " + name);
}

}  // namespace

onnx::ModelProto FromText(const std::string& text, int64_t opset) {
  const std::string header = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]>\n";
  onnx::ModelProto model;
  model.ParseFromString(ModelFromText(header + text));
  return model;
}

std::vector<float> RunModel(const onnx::ModelProto& model, const std::vector<float>& x,
                            const std::vector<int64_t>& shape, const std::string& output) {
  const std::string bytes = model.SerializeAsString();
  const Ort::SessionOptions options = MakeSessionOptions(Device{}, 1);
  Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, "test");
  const Ort::Value input = Ort::Value::CreateTensor<float>(HostMemory(), const_cast<float*>(x.data()),
                                                           x.size(), shape.data(), shape.size());
  const std::string input_name = model.graph().input(0).name();
  const char* inputs[] = {input_name.c_str()};
  const char* outputs[] = {output.c_str()};
  const auto results = session.Run(Ort::RunOptions{nullptr}, inputs, &input, 1, outputs, 1);
  const float* values = results[0].GetTensorData<float>();
  return {values, values + results[0].GetTensorTypeAndShapeInfo().GetElementCount()};
}

std::vector<float> RandomRows(int64_t rows, int64_t dimension, uint64_t seed) {
  RandomStream random(seed, kRows, 0, 0);
  std::vector<float> values(static_cast<size_t>(rows * dimension));
  for (float& value : values) value = random.Bernoulli(0.5f) ? 1.0f : 0.0f;
  return values;
}

std::vector<float> ParameterValues(const onnx::ModelProto& model, const std::string& name) {
  const std::string& raw = FindParameter(const_cast<onnx::ModelProto&>(model), name).raw_data();
  std::vector<float> values(raw.size() / sizeof(float));
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

void SetParameterValues(onnx::ModelProto& model, const std::string& name, const std::vector<float>& values) {
  FindParameter(model, name).set_raw_data(values.data(), values.size() * sizeof(float));
}

void RandomiseParameters(onnx::ModelProto& model, double scale, uint64_t seed) {
  uint64_t stream = 0;
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    RandomStream random(seed, kParameters, stream++, 0);
    std::vector<float> values(tensor.raw_data().size() / sizeof(float));
    for (float& value : values) value = static_cast<float>(scale * random.Normal());
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  }
}

}  // namespace ort_ed
