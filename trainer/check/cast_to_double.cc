#include "trainer/check/cast_to_double.h"

#include <onnx/defs/tensor_proto_util.h>

#include "trainer/graph/half_parameters.h"

namespace ort_ed {
namespace {

bool IsNarrow(int64_t type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16;
}

void ToDouble(onnx::TensorProto& tensor) {
  if (!IsNarrow(tensor.data_type())) return;
  const bool is_float = tensor.data_type() == onnx::TensorProto::FLOAT;
  const std::vector<float> values = is_float ? onnx::ParseData<float>(&tensor) : ReadAsFloats(tensor);
  tensor.clear_raw_data();
  tensor.clear_int32_data();
  tensor.clear_float_data();
  tensor.set_data_type(onnx::TensorProto::DOUBLE);
  tensor.mutable_double_data()->Add(values.begin(), values.end());
}

void ToDouble(onnx::ValueInfoProto& info) {
  auto* type = info.mutable_type()->mutable_tensor_type();
  if (IsNarrow(type->elem_type())) type->set_elem_type(onnx::TensorProto::DOUBLE);
}

void ToDouble(onnx::GraphProto& graph);

void ToDouble(onnx::NodeProto& node, onnx::AttributeProto& attribute) {
  const bool names_type = attribute.name() == "to" || attribute.name() == "dtype";
  if (names_type && IsNarrow(attribute.i())) attribute.set_i(onnx::TensorProto::DOUBLE);
  const bool is_number = attribute.name() == "value_float" || attribute.name() == "value_floats";
  if (node.op_type() == "Constant" && is_number) {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::DOUBLE);
    for (float value : attribute.floats()) tensor.add_double_data(value);
    if (attribute.name() == "value_float") {
      tensor.add_double_data(attribute.f());
    } else {
      tensor.add_dims(attribute.floats_size());
    }
    attribute.Clear();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = tensor;
  }
  if (attribute.has_t()) ToDouble(*attribute.mutable_t());
  if (attribute.has_g()) ToDouble(*attribute.mutable_g());
}

void ToDouble(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) ToDouble(node, attribute);
  }
}

void ToDouble(onnx::GraphProto& graph) {
  graph.clear_value_info();
  for (auto& input : *graph.mutable_input()) ToDouble(input);
  for (auto& output : *graph.mutable_output()) ToDouble(output);
  for (auto& tensor : *graph.mutable_initializer()) ToDouble(tensor);
  ToDouble(*graph.mutable_node());
}

}  // namespace

onnx::ModelProto InDoublePrecision(const onnx::ModelProto& model) {
  onnx::ModelProto copy = model;
  ToDouble(*copy.mutable_graph());
  for (auto& function : *copy.mutable_functions()) ToDouble(*function.mutable_node());
  return copy;
}

}  // namespace ort_ed
