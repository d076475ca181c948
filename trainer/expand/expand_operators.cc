#include "trainer/expand/expand_operators.h"

#include <algorithm>

#include "models/graph/standard_domain.h"
#include "trainer/expand/expansions.h"

namespace ort_ed {
namespace {

const Expansion* Find(const std::string& domain, const std::string& op) {
  for (const auto family : {ContribExpansions(), AttentionExpansions(), RecurrentExpansions(),
                            LossExpansions(), ImageExpansions()}) {
    for (const Expansion& expansion : family) {
      const bool same_domain =
          IsStandardDomain(expansion.domain) ? IsStandardDomain(domain) : domain == expansion.domain;
      if (same_domain && op == expansion.op) return &expansion;
    }
  }
  return nullptr;
}

// The type that the node computes in, for its constants.
int32_t FloatType(const GradState& state, const onnx::NodeProto& node) {
  for (const auto& output : node.output())
    if (const auto info = state.infos.find(output); info != state.infos.end() && info->second.is_floating())
      return info->second.type;
  return onnx::TensorProto::FLOAT;
}

void Name(GraphBuilder& builder, const Value& value, const std::string& output) {
  onnx::NodeProto& identity = *builder.graph().add_node();
  identity.set_op_type("Identity");
  identity.add_input(value.name);
  identity.add_output(output);
}

// The outputs that the node has a name for must be among `values`.
bool Covers(const std::vector<Value>& values, const onnx::NodeProto& node) {
  for (int i = 0; i < node.output_size(); ++i) {
    const bool is_made = i < std::ssize(values) && !values[i].name.empty();
    if (!node.output(i).empty() && !is_made) return false;
  }
  return true;
}

void ExpandNode(GradState& state, const onnx::NodeProto& node, const Expansion& expansion) {
  GraphBuilder& builder = state.builder;
  builder.set_float_type(FloatType(state, node));
  const std::vector<Value> values = expansion.emit(GradContext(state, node));
  if (!Covers(values, node)) {
    *builder.graph().add_node() = node;
    return;
  }
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty()) Name(builder, values[i], node.output(i));
}

}  // namespace

bool IsExpanded(const std::string& domain, const std::string& op) { return Find(domain, op) != nullptr; }

void ExpandOperators(onnx::ModelProto& model) {
  const auto expanded = [](const onnx::NodeProto& node) { return IsExpanded(node.domain(), node.op_type()); };
  if (std::ranges::none_of(model.graph().node(), expanded)) return;
  GraphBuilder builder(model, "ort_ed_expanded/");
  GradState state{.builder = builder, .infos = InferShapes(model, model.graph().output(0).name())};
  for (const auto& tensor : builder.graph().initializer()) state.initializers[tensor.name()] = &tensor;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(builder.graph().mutable_node());
  for (const auto& node : nodes)
    for (const auto& output : node.output()) state.producers[output] = &node;
  for (const onnx::NodeProto& node : nodes) {
    if (const Expansion* expansion = Find(node.domain(), node.op_type())) {
      ExpandNode(state, node, *expansion);
    } else {
      *builder.graph().add_node() = node;
    }
  }
}

}  // namespace ort_ed
