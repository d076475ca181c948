#include "trainer/graph/fold/raw_nodes.h"

#include "models/graph/attributes.h"
#include "trainer/graph/fold/constant_values.h"

namespace ort_ed {

onnx::NodeProto& AddNode(RawNodes& nodes, const std::string& op, const std::vector<std::string>& inputs,
                         const std::string& output) {
  onnx::NodeProto& node = *nodes.Add();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void SetInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void AddConstant(RawNodes& nodes, int32_t type, const std::vector<int64_t>& shape,
                 const std::vector<int64_t>& values, const std::string& output) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  for (const int64_t value : values) {
    if (type == onnx::TensorProto::BOOL) {
      tensor.add_int32_data(static_cast<int32_t>(value));
    } else {
      tensor.add_int64_data(value);
    }
  }
  onnx::NodeProto& node = *nodes.Add();
  node.add_output(output);
  MakeConstant(node, tensor);
}

int64_t IntAttributeOr(const onnx::NodeProto& node, std::string_view name, int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

int64_t KnownExtent(const TensorInfos& infos, const std::string& tensor, int64_t axis) {
  const auto info = infos.find(tensor);
  if (info == infos.end() || !info->second.has_rank) return -1;
  if (axis < 0) axis += info->second.rank();
  return axis >= 0 && axis < info->second.rank() ? info->second.shape[axis].value : -1;
}

void Rename(std::string& tensor, const Renaming& renaming) {
  if (const auto found = renaming.find(tensor); found != renaming.end()) tensor = found->second;
}

void Rename(onnx::NodeProto& node, const Renaming& renaming) {
  for (auto& input : *node.mutable_input()) Rename(input, renaming);
  for (auto& output : *node.mutable_output()) Rename(output, renaming);
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    for (auto& inner : *attribute.mutable_g()->mutable_node()) Rename(inner, renaming);
    for (auto& output : *attribute.mutable_g()->mutable_output()) Rename(*output.mutable_name(), renaming);
  }
}

}  // namespace ort_ed
