#include "trainer/graph/inline_functions.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "models/graph/standard_domain.h"
#include "ort_ed/error.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/opsets.h"
#include "trainer/graph/raise_opset.h"

namespace ort_ed {
namespace {

using Renaming = std::unordered_map<std::string, std::string>;
using FunctionId = std::pair<std::string, std::string>;  // domain, name

constexpr int kDeepestCall = 64;

// Defaults of a function's attributes: a field that older onnx libraries do not have.
template <typename Function>
const onnx::AttributeProto* DefaultAttribute(const Function& function, const std::string& name) {
  if constexpr (requires { function.attribute_proto(); }) {
    for (const auto& attribute : function.attribute_proto()) {
      if (attribute.name() == name) return &attribute;
    }
  }
  return nullptr;
}

// One call: how the names and attributes of the function's body become those of the caller.
class Call {
 public:
  Call(const onnx::FunctionProto& function, const onnx::NodeProto& caller, GraphNames& names)
      : function_(function), caller_(caller), names_(names), stem_(Stem(caller)) {
    if (caller.input_size() > function.input_size() || caller.output_size() > function.output_size()) {
      throw Error(ErrorCode::kBadModel, DescribeNode(caller) + " does not fit its function '" +
                                            function.name() + "': too many inputs or outputs.");
    }
    for (int i = 0; i < function.input_size(); ++i) {
      renaming_[function.input(i)] = i < caller.input_size() ? caller.input(i) : "";
    }
    for (int i = 0; i < caller.output_size(); ++i) {
      if (!caller.output(i).empty()) renaming_[function.output(i)] = caller.output(i);
    }
  }

  onnx::NodeProto Translate(const onnx::NodeProto& node) {
    onnx::NodeProto result = node;
    if (!node.name().empty()) result.set_name(names_.Fresh(stem_ + node.name()));
    for (auto& input : *result.mutable_input()) input = Rename(input);
    for (auto& output : *result.mutable_output()) output = Rename(output);
    result.clear_attribute();
    for (const auto& attribute : node.attribute()) TranslateAttribute(attribute, result);
    return result;
  }

  // A function whose output is one of its inputs has no node that makes the output.
  void PassThrough(Nodes& nodes) const {
    for (int i = 0; i < caller_.output_size(); ++i) {
      for (const auto& input : function_.input()) {
        if (input != function_.output(i) || caller_.output(i).empty()) continue;
        onnx::NodeProto& identity = *nodes.Add();
        identity.set_op_type("Identity");
        for (int k = 0; k < function_.input_size(); ++k) {
          if (function_.input(k) == input) identity.add_input(caller_.input(k));
        }
        identity.add_output(caller_.output(i));
      }
    }
  }

 private:
  static std::string Stem(const onnx::NodeProto& caller) {
    return (caller.name().empty() ? caller.op_type() : caller.name()) + "/";
  }

  std::string Rename(const std::string& name) {
    if (name.empty()) return name;
    const auto [known, is_new] = renaming_.try_emplace(name);
    if (is_new) known->second = names_.Fresh(stem_ + name);
    return known->second;
  }

  void TranslateAttribute(const onnx::AttributeProto& attribute, onnx::NodeProto& node) {
    if (attribute.ref_attr_name().empty()) {
      onnx::AttributeProto& copy = *node.add_attribute();
      copy = attribute;
      if (copy.has_g()) TranslateGraph(*copy.mutable_g());
      return;
    }
    const onnx::AttributeProto* value = DefaultAttribute(function_, attribute.ref_attr_name());
    for (const auto& given : caller_.attribute()) {
      if (given.name() == attribute.ref_attr_name()) value = &given;
    }
    if (!value) return;  // an optional attribute that the caller left out
    *node.add_attribute() = *value;
    node.mutable_attribute()->rbegin()->set_name(attribute.name());
  }

  void TranslateGraph(onnx::GraphProto& graph) {
    for (auto& input : *graph.mutable_input()) input.set_name(Rename(input.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(Rename(tensor.name()));
    for (auto& node : *graph.mutable_node()) node = Translate(node);
    for (auto& output : *graph.mutable_output()) output.set_name(Rename(output.name()));
  }

  const onnx::FunctionProto& function_;
  const onnx::NodeProto& caller_;
  GraphNames& names_;
  const std::string stem_;
  Renaming renaming_;
};

class Inliner {
 public:
  explicit Inliner(onnx::ModelProto& model) : model_(model), names_(model) {
    UnifyStandardOpset();
    for (const auto& function : model.functions()) {
      CheckOpsets(function);
      functions_[{function.domain(), function.name()}] = function;
    }
  }

  void Run() {
    Expand(*model_.mutable_graph()->mutable_node(), 0);
    model_.clear_functions();
  }

 private:
  // All nodes end in one graph, of one opset.
  void UnifyStandardOpset() {
    onnx::OperatorSetIdProto* import = StandardImport(model_);
    if (!import) {
      import = model_.add_opset_import();
      import->set_version(kOldestDifferentiableOpset);
    }
    int64_t newest = import->version();
    for (auto& function : *model_.mutable_functions()) {
      if (const auto* opset = StandardImport(function)) newest = std::max<int64_t>(newest, opset->version());
    }
    RequireSame(model_.graph().node(), import, newest, "the graph");
    for (auto& function : *model_.mutable_functions()) {
      RequireSame(function.node(), StandardImport(function), newest,
                  "the function '" + function.name() + "'");
    }
    import->set_version(newest);
  }

  static void RequireSame(const Nodes& nodes, const onnx::OperatorSetIdProto* opset, int64_t newest,
                          const std::string& who) {
    const auto* changed = opset ? FirstChanged(nodes, opset->version(), newest) : nullptr;
    if (!changed) return;
    throw Error(ErrorCode::kBadModel, who + " uses opset " + std::to_string(opset->version()) +
                                          " where other parts of the model use opset " +
                                          std::to_string(newest) + ", and " + DescribeNode(*changed) +
                                          " is not the same in both: export the model with one opset.");
  }

  void CheckOpsets(const onnx::FunctionProto& function) {
    for (const auto& needed : function.opset_import()) {
      if (IsStandardDomain(needed.domain())) continue;
      bool found = false;
      for (const auto& import : model_.opset_import()) {
        if (import.domain() != needed.domain()) continue;
        found = true;
        if (import.version() == needed.version()) continue;
        throw Error(ErrorCode::kBadModel, "the function '" + function.name() + "' uses opset " +
                                              std::to_string(needed.version()) + " of '" + needed.domain() +
                                              "' and the model opset " + std::to_string(import.version()) +
                                              ": export the model with one opset for both.");
      }
      if (!found) *model_.add_opset_import() = needed;
    }
  }

  void Expand(Nodes& nodes, int depth) {
    Nodes expanded;
    for (auto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) Expand(*attribute.mutable_g()->mutable_node(), depth);
      }
      const auto function = functions_.find({node.domain(), node.op_type()});
      if (function == functions_.end()) {
        *expanded.Add() = node;
      } else {
        ExpandCall(function->second, node, depth, expanded);
      }
    }
    nodes.Swap(&expanded);
  }

  void ExpandCall(const onnx::FunctionProto& function, const onnx::NodeProto& caller, int depth,
                  Nodes& expanded) {
    if (depth == kDeepestCall) {
      throw Error(ErrorCode::kBadModel, "the function '" + function.name() + "' calls itself.");
    }
    Call call(function, caller, names_);
    Nodes body;
    for (const auto& node : function.node()) *body.Add() = call.Translate(node);
    call.PassThrough(body);
    Expand(body, depth + 1);
    for (auto& node : body) *expanded.Add() = node;
  }

  onnx::ModelProto& model_;
  GraphNames names_;
  std::map<FunctionId, onnx::FunctionProto> functions_;
};

}  // namespace

void InlineFunctions(onnx::ModelProto& model) {
  if (model.functions_size() > 0) Inliner(model).Run();
}

}  // namespace ort_ed
