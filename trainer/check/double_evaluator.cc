#include "trainer/check/double_evaluator.h"

#include <algorithm>

#include "runtime/session.h"

namespace ort_ed {
namespace {

Ort::Session Open(const onnx::ModelProto& model, const std::string& name) {
  const std::string bytes = model.SerializeAsString();
  Ort::SessionOptions options = MakeSessionOptions(Device{}, 0);
  options.SetGraphOptimizationLevel(ORT_ENABLE_BASIC);  // beyond, some fusions exist in float only
  return OpenSession(std::as_bytes(std::span(bytes)), options, name);
}

template <typename T>
Ort::Value MakeValue(const DoubleTensor& tensor) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value = Ort::Value::CreateTensor<T>(allocator, tensor.shape.data(), tensor.shape.size());
  std::transform(tensor.values.begin(), tensor.values.end(), value.GetTensorMutableData<T>(),
                 [](double x) { return static_cast<T>(x); });
  return value;
}

template <typename T>
DoubleTensor Read(const Ort::Value& value, const std::string& name) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  if (info.GetElementType() != Ort::TypeToTensorType<T>::type)
    throw Error(ErrorCode::kBadModel, "the output '" + name + "' is of another type than the input");
  const T* data = value.GetTensorData<T>();
  return {info.GetShape(), {data, data + info.GetElementCount()}};
}

}  // namespace

DoubleEvaluator::DoubleEvaluator(const onnx::ModelProto& model, const std::string& name)
    : session_(Open(model, name)) {
  Ort::AllocatorWithDefaultOptions allocator;
  for (size_t i = 0; i < session_.GetInputCount(); ++i)
    inputs_.emplace_back(session_.GetInputNameAllocated(i, allocator).get());
  for (size_t i = 0; i < session_.GetOutputCount(); ++i)
    outputs_.emplace_back(session_.GetOutputNameAllocated(i, allocator).get());
  is_double_ = session_.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetElementType() ==
               ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
}

DoubleTensors DoubleEvaluator::Run(const DoubleTensors& feeds) const {
  std::vector<Ort::Value> values;
  std::vector<const char*> inputs, outputs;
  for (const std::string& input : inputs_) {
    inputs.push_back(input.c_str());
    values.push_back(is_double_ ? MakeValue<double>(feeds.at(input)) : MakeValue<float>(feeds.at(input)));
  }
  for (const std::string& output : outputs_) outputs.push_back(output.c_str());
  const auto results = Translated(ErrorCode::kBadModel, "cannot run the model", [&] {
    return session_.Run({}, inputs.data(), values.data(), values.size(), outputs.data(), outputs.size());
  });
  DoubleTensors tensors;
  for (size_t i = 0; i < results.size(); ++i)
    tensors[outputs_[i]] =
        is_double_ ? Read<double>(results[i], outputs_[i]) : Read<float>(results[i], outputs_[i]);
  return tensors;
}

}  // namespace ort_ed
