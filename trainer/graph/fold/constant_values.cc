#include "trainer/graph/fold/constant_values.h"

#include <algorithm>
#include <set>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"

namespace ort_ed {
namespace {

bool IsFloating(int32_t type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE ||
         type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

std::optional<std::vector<int64_t>> WholeNumbers(const onnx::TensorProto& tensor) {
  if (tensor.data_type() == onnx::TensorProto::INT64) return onnx::ParseData<int64_t>(&tensor);
  if (tensor.data_type() == onnx::TensorProto::INT32) {
    const std::vector<int32_t> narrow = onnx::ParseData<int32_t>(&tensor);
    return std::vector<int64_t>(narrow.begin(), narrow.end());
  }
  if (tensor.data_type() != onnx::TensorProto::BOOL) return std::nullopt;
  if (!tensor.has_raw_data())
    return std::vector<int64_t>(tensor.int32_data().begin(), tensor.int32_data().end());
  return std::vector<int64_t>(tensor.raw_data().begin(), tensor.raw_data().end());
}

}  // namespace

ConstantValues::ConstantValues(const onnx::GraphProto& graph) {
  std::set<std::string> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  for (const auto& tensor : graph.initializer())
    if (!IsFloating(tensor.data_type()) && !inputs.contains(tensor.name())) tensors_[tensor.name()] = &tensor;
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant" || !IsStandardDomain(node.domain())) continue;
    const std::string& name = node.output(0);
    if (const auto* value = FindAttribute(node, "value")) {
      tensors_[name] = &value->t();
    } else if (const auto* number = FindAttribute(node, "value_int")) {
      lists_[name] = {number->i()};
    } else if (const auto* list = FindAttribute(node, "value_ints")) {
      lists_[name] = {list->ints().begin(), list->ints().end()};
    } else {
      others_[name] = true;
    }
  }
}

bool ConstantValues::Contains(const std::string& tensor) const {
  return tensors_.contains(tensor) || lists_.contains(tensor) || others_.contains(tensor);
}

std::optional<std::vector<int64_t>> ConstantValues::Ints(const std::string& tensor) const {
  if (const auto list = lists_.find(tensor); list != lists_.end()) return list->second;
  const auto found = tensors_.find(tensor);
  return found == tensors_.end() ? std::nullopt : WholeNumbers(*found->second);
}

void MakeConstant(onnx::NodeProto& node, const onnx::TensorProto& value) {
  node.clear_input();
  node.clear_attribute();
  node.set_op_type("Constant");
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = value;
}

}  // namespace ort_ed
