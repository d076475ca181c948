#include "trainer/graph/half_parameters.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <onnx/defs/tensor_proto_util.h>
#include <onnxruntime_cxx_api.h>

#include "models/graph/attributes.h"
#include "models/graph/model_edits.h"
#include "trainer/graph/graph_names.h"

namespace ort_ed {
namespace {

using onnx::TensorProto;

constexpr char kWidened[] = "ort_ed_widened/";  // names of the Casts begin with it

using Renaming = std::map<std::string, std::string>;

void RenameReads(onnx::GraphProto& graph, const Renaming& renaming) {
  const auto rename = [&](std::string& name) {
    if (const auto found = renaming.find(name); found != renaming.end()) name = found->second;
  };
  for (auto& node : *graph.mutable_node()) {
    if (node.name().starts_with(kWidened)) continue;
    for (auto& input : *node.mutable_input()) rename(input);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) RenameReads(*attribute.mutable_g(), renaming);
  }
}

// Numbers of 16 bits, as raw data or one in each int32.
std::vector<uint16_t> Bits16(const TensorProto& tensor) {
  std::vector<uint16_t> bits(static_cast<size_t>(ElementCount(tensor)));
  if (tensor.has_raw_data()) {
    std::memcpy(bits.data(), tensor.raw_data().data(), std::min(tensor.raw_data().size(), bits.size() * 2));
  } else {
    std::ranges::transform(tensor.int32_data(), bits.begin(),
                           [](int32_t value) { return static_cast<uint16_t>(value); });
  }
  return bits;
}

template <typename Half>
std::vector<float> FromBits(const TensorProto& tensor) {
  std::vector<float> values;
  for (const uint16_t bits : Bits16(tensor)) values.push_back(Half::FromBits(bits).ToFloat());
  return values;
}

std::vector<float> FromDouble(const TensorProto& tensor) {
  const std::vector<double> wide = onnx::ParseData<double>(&tensor);
  return {wide.begin(), wide.end()};
}

bool FitsInFloat(const TensorProto& tensor) {
  return std::ranges::all_of(onnx::ParseData<double>(&tensor), [](double value) {
    return static_cast<double>(static_cast<float>(value)) == value || value != value;
  });
}

template <typename Number, typename Make>
void SetRaw(TensorProto& tensor, const std::vector<float>& values, Make&& make) {
  std::vector<Number> numbers;
  for (const float value : values) numbers.push_back(make(value));
  tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(Number));
}

void SetValues(TensorProto& tensor, int32_t type, const std::vector<float>& values) {
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_double_data();
  tensor.set_data_type(type);
  if (type == TensorProto::FLOAT16) {
    SetRaw<uint16_t>(tensor, values, [](float value) { return Ort::Float16_t(value).val; });
  } else if (type == TensorProto::BFLOAT16) {
    SetRaw<uint16_t>(tensor, values, [](float value) { return Ort::BFloat16_t(value).val; });
  } else if (type == TensorProto::DOUBLE) {
    SetRaw<double>(tensor, values, [](float value) { return double{value}; });
  } else {
    SetRaw<float>(tensor, values, [](float value) { return value; });
  }
}

onnx::NodeProto CastNode(const std::string& from, const std::string& to, int32_t type) {
  onnx::NodeProto node;
  node.set_op_type("Cast");
  node.set_name(kWidened + from);
  node.add_input(from);
  node.add_output(to);
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("to");
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(type);
  return node;
}

bool IsNarrowOrWide(const TensorProto& tensor) {
  return tensor.data_type() == TensorProto::FLOAT16 || tensor.data_type() == TensorProto::BFLOAT16 ||
         tensor.data_type() == TensorProto::DOUBLE;
}

}  // namespace

std::vector<float> ReadAsFloats(const TensorProto& tensor) {
  if (tensor.data_type() == TensorProto::FLOAT16) return FromBits<Ort::Float16_t>(tensor);
  if (tensor.data_type() == TensorProto::BFLOAT16) return FromBits<Ort::BFloat16_t>(tensor);
  return FromDouble(tensor);
}

std::vector<std::string> WidenParameters(onnx::ModelProto& model) {
  GraphNames names(model);
  Renaming renaming;
  std::vector<std::string> left;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const int32_t type = tensor.data_type();
    if (!IsNarrowOrWide(tensor) || ElementCount(tensor) == 0) continue;
    if (type == TensorProto::DOUBLE && !FitsInFloat(tensor)) {
      if (ElementCount(tensor) > 1) left.push_back(tensor.name());
      continue;
    }
    SetValues(tensor, TensorProto::FLOAT, ReadAsFloats(tensor));
    const std::string cast = names.Fresh(tensor.name() + "_as_stored");
    renaming[tensor.name()] = cast;
    *nodes.Add() = CastNode(tensor.name(), cast, type);
  }
  if (renaming.empty()) return left;
  RenameReads(*model.mutable_graph(), renaming);
  for (const auto& node : model.graph().node()) *nodes.Add() = node;
  model.mutable_graph()->mutable_node()->Swap(&nodes);
  return left;
}

void NarrowParameters(onnx::ModelProto& model) {
  Renaming renaming;
  auto& nodes = *model.mutable_graph()->mutable_node();
  const auto narrow = [&](const onnx::NodeProto& node) {
    if (!node.name().starts_with(kWidened)) return false;
    TensorProto* tensor = FindInitialiser(model, node.input(0));
    if (tensor == nullptr || tensor->data_type() != TensorProto::FLOAT) return false;
    SetValues(*tensor, static_cast<int32_t>(FindAttribute(node, "to")->i()), onnx::ParseData<float>(tensor));
    renaming[node.output(0)] = node.input(0);
    return true;
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), narrow), nodes.end());
  if (!renaming.empty()) RenameReads(*model.mutable_graph(), renaming);
}

}  // namespace ort_ed
