#include "models/graph/graph_builder.h"

#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

template <typename T>
onnx::TensorProto MakeTensor(int32_t type, std::span<const int64_t> shape, std::span<const T> values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size_bytes());
  return tensor;
}

onnx::TensorProto FloatTensor(std::span<const int64_t> shape, std::span<const float> values) {
  return MakeTensor(onnx::TensorProto::FLOAT, shape, values);
}

onnx::TensorProto IntTensor(std::span<const int64_t> shape, std::span<const int64_t> values) {
  return MakeTensor(onnx::TensorProto::INT64, shape, values);
}

struct AttributeWriter {
  onnx::AttributeProto& proto;
  void operator()(Nothing) {}
  void operator()(int64_t value) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<float>& values) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (float value : values) proto.add_floats(value);
  }
};

void Describe(onnx::ValueInfoProto& info, const std::string& name, std::span<const int64_t> shape,
              int32_t type) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t extent : shape) {
    auto* dimension = tensor->mutable_shape()->add_dim();
    if (extent < 0) {
      dimension->set_dim_param("batch");
    } else {
      dimension->set_dim_value(extent);
    }
  }
}

bool RenameOutput(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& output : *node.mutable_output()) {
      if (output != from) continue;
      output = to;
      return true;
    }
  }
  return false;
}

// Subgraphs see the tensors around them, so a use may hide in any of them.
void RenameUses(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& input : *node.mutable_input()) {
      if (input == from) input = to;
    }
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) RenameUses(*attribute.mutable_g(), from, to);
      for (auto& subgraph : *attribute.mutable_graphs()) RenameUses(subgraph, from, to);
    }
  }
  for (auto* values : {graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *values) {
      if (value.name() == from) value.set_name(to);
    }
  }
}

// The opset from which a reduction takes its axes as an input instead of an attribute.
int64_t AxesInputSince(const std::string& op) { return op == "ReduceSum" ? 13 : 18; }

Value WithAxes(const std::string& op, const Value& a, std::span<const int64_t> axes, bool axes_as_input,
               Attributes attributes) {
  if (axes.empty()) return a.graph->Node(op, std::vector{a}, attributes);
  if (axes_as_input) return a.graph->Node(op, std::vector{a, a.graph->Ints(axes)}, attributes);
  attributes["axes"] = std::vector<int64_t>(axes.begin(), axes.end());
  return a.graph->Node(op, std::vector{a}, attributes);
}

}  // namespace

GraphBuilder::GraphBuilder(onnx::ModelProto& model, std::string prefix)
    : model_(model), prefix_(std::move(prefix)) {
  if (!model_.has_ir_version()) model_.set_ir_version(kIrVersion);
  opset_ = StandardOpset(model_);
  if (opset_ == 0) {
    model_.add_opset_import()->set_version(kOpset);
    opset_ = kOpset;
  }
  CollectNames(graph());
}

void GraphBuilder::CollectNames(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) names_.insert(input.name());
  for (const auto& initializer : graph.initializer()) names_.insert(initializer.name());
  for (const auto& initializer : graph.sparse_initializer()) names_.insert(initializer.values().name());
  for (const auto& node : graph.node()) {
    names_.insert(node.name());
    for (const auto& output : node.output()) names_.insert(output);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectNames(attribute.g());
      for (const auto& subgraph : attribute.graphs()) CollectNames(subgraph);
    }
  }
}

void GraphBuilder::TakeName(const std::string& name) {
  if (names_.insert(name).second) return;
  throw Error(ErrorCode::kInvalidArgument, "the graph already has something named '" + name + "'");
}

std::string GraphBuilder::FreshName(const std::string& hint) {
  const std::string stem = prefix_ + hint;
  std::string name = stem;
  while (!names_.insert(name).second) name = stem + "_" + std::to_string(++next_suffix_[stem]);
  return name;
}

Value GraphBuilder::Input(const std::string& name, std::span<const int64_t> shape, int32_t type) {
  TakeName(name);
  Describe(*graph().add_input(), name, shape, type);
  return {this, name};
}

void GraphBuilder::Output(const Value& value, std::span<const int64_t> shape, int32_t type) {
  Describe(*graph().add_output(), value.name, shape, type);
}

Value GraphBuilder::Named(const Value& value, const std::string& name) {
  TakeName(name);
  onnx::NodeProto& node = *graph().add_node();
  node.set_op_type("Identity");
  node.set_name(FreshName("Identity"));
  node.add_input(value.name);
  node.add_output(name);
  return {this, name};
}

Value GraphBuilder::Renamed(const Value& value, const std::string& name) {
  if (value.name == name) return value;
  if (!RenameOutput(graph(), value.name, name)) {
    throw Error(ErrorCode::kInvalidArgument, "no node of the graph computes '" + value.name + "'");
  }
  names_.insert(name);
  RenameUses(graph(), value.name, name);
  std::erase_if(constants_, [&](const auto& constant) { return constant.second == value.name; });
  std::erase_if(converted_, [&](const auto& cast) { return cast.second.name == value.name; });
  return {this, name};
}

Value GraphBuilder::Parameter(const std::string& name, std::span<const int64_t> shape,
                              std::span<const float> values) {
  onnx::TensorProto& tensor = *graph().add_initializer();
  tensor = FloatTensor(shape, values);
  tensor.set_name(FreshName(name));
  return {this, tensor.name()};
}

Value GraphBuilder::AppendConstant(const onnx::TensorProto& tensor) {
  const auto [known, is_new] = constants_.try_emplace(tensor.SerializeAsString());
  if (is_new) {
    known->second = FreshName("constant");
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type("Constant");
    node.set_name(known->second);
    node.add_output(known->second);
    onnx::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
  }
  return {this, known->second};
}

Value GraphBuilder::InFloatType(const Value& value) {
  if (float_type_ == onnx::TensorProto::FLOAT) return value;
  const auto [known, is_new] = converted_.try_emplace({value.name, float_type_});
  if (is_new) known->second = Op("Cast", {value}, {{"to", int64_t{float_type_}}});
  return known->second;
}

Value GraphBuilder::Scalar(float value) { return InFloatType(AppendConstant(FloatTensor({}, {&value, 1}))); }

Value GraphBuilder::Constant(std::span<const int64_t> shape, std::span<const float> values) {
  return InFloatType(AppendConstant(FloatTensor(shape, values)));
}

Value GraphBuilder::Ints(std::span<const int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return AppendConstant(IntTensor({&count, 1}, values));
}

Value GraphBuilder::IntScalar(int64_t value) { return AppendConstant(IntTensor({}, {&value, 1})); }

Value GraphBuilder::Node(const std::string& op, std::span<const Value> inputs, const Attributes& attributes) {
  return NodeWithOutputs(op, inputs, 1, attributes).front();
}

std::vector<Value> GraphBuilder::NodeWithOutputs(const std::string& op, std::span<const Value> inputs,
                                                 int outputs, const Attributes& attributes,
                                                 const std::string& domain) {
  onnx::NodeProto& node = *graph().add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  const std::string name = FreshName(op);
  node.set_name(name);
  for (const Value& input : inputs) node.add_input(input.name);
  for (const auto& [key, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit(AttributeWriter{attribute}, value);
  }
  std::vector<Value> results;
  for (int i = 0; i < outputs; ++i) {
    results.push_back({this, i == 0 ? name : FreshName(name)});
    node.add_output(results.back().name);
  }
  return results;
}

Value NoValue(const Value& like) { return {like.graph, ""}; }

Value Op(const std::string& op, std::initializer_list<Value> inputs, const Attributes& attributes) {
  return inputs.begin()->graph->Node(op, std::span(inputs.begin(), inputs.size()), attributes);
}

Value operator+(const Value& a, const Value& b) { return Op("Add", {a, b}); }
Value operator-(const Value& a, const Value& b) { return Op("Sub", {a, b}); }
Value operator*(const Value& a, const Value& b) { return Op("Mul", {a, b}); }
Value operator/(const Value& a, const Value& b) { return Op("Div", {a, b}); }
Value operator-(const Value& a) { return Op("Neg", {a}); }
Value operator+(const Value& a, float b) { return a + a.graph->Scalar(b); }
Value operator-(const Value& a, float b) { return a - a.graph->Scalar(b); }
Value operator*(const Value& a, float b) { return a * a.graph->Scalar(b); }
Value operator/(const Value& a, float b) { return a / a.graph->Scalar(b); }
Value operator+(float a, const Value& b) { return b.graph->Scalar(a) + b; }
Value operator-(float a, const Value& b) { return b.graph->Scalar(a) - b; }
Value operator*(float a, const Value& b) { return b.graph->Scalar(a) * b; }
Value operator/(float a, const Value& b) { return b.graph->Scalar(a) / b; }

Value MatMul(const Value& a, const Value& b) { return Op("MatMul", {a, b}); }
Value Transpose(const Value& a, std::span<const int64_t> permutation) {
  return Op("Transpose", {a}, {{"perm", std::vector<int64_t>(permutation.begin(), permutation.end())}});
}
Value Reshape(const Value& a, std::span<const int64_t> shape) {
  return Op("Reshape", {a, a.graph->Ints(shape)});
}
Value Sigmoid(const Value& a) { return Op("Sigmoid", {a}); }
Value Softplus(const Value& a) { return Op("Softplus", {a}); }
Value Exp(const Value& a) { return Op("Exp", {a}); }
Value Log(const Value& a) { return Op("Log", {a}); }
Value Sqrt(const Value& a) { return Op("Sqrt", {a}); }

Value Reduce(const std::string& op, const Value& a, std::span<const int64_t> axes, bool keep_dimensions) {
  const bool axes_as_input = a.graph->opset() >= AxesInputSince(op);
  return WithAxes(op, a, axes, axes_as_input, {{"keepdims", int64_t{keep_dimensions}}});
}
Value ReduceSum(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions) {
  return Reduce("ReduceSum", a, std::span(axes.begin(), axes.size()), keep_dimensions);
}
Value ReduceMean(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions) {
  return Reduce("ReduceMean", a, std::span(axes.begin(), axes.size()), keep_dimensions);
}
Value ReduceMax(const Value& a, std::initializer_list<int64_t> axes, bool keep_dimensions) {
  return Reduce("ReduceMax", a, std::span(axes.begin(), axes.size()), keep_dimensions);
}
Value Squeeze(const Value& a, std::span<const int64_t> axes) {
  return WithAxes("Squeeze", a, axes, a.graph->opset() >= 13, {});
}
Value Squeeze(const Value& a, std::initializer_list<int64_t> axes) {
  return Squeeze(a, std::span(axes.begin(), axes.size()));
}
Value Unsqueeze(const Value& a, std::span<const int64_t> axes) {
  return WithAxes("Unsqueeze", a, axes, a.graph->opset() >= 13, {});
}
Value Unsqueeze(const Value& a, std::initializer_list<int64_t> axes) {
  return Unsqueeze(a, std::span(axes.begin(), axes.size()));
}

}  // namespace ort_ed
