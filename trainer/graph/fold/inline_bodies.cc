#include "trainer/graph/fold/inline_bodies.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/fold/constant_values.h"
#include "trainer/graph/fold/raw_nodes.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {
namespace {

constexpr int64_t kMostNodes = 20000;  // that one loop may become

using Names = std::vector<std::string>;
bool IsOperator(const onnx::NodeProto& node, const char* op) {
  return node.op_type() == op && IsStandardDomain(node.domain());
}

int64_t IntOf(const onnx::NodeProto& node, const char* name, int i) {
  const auto* attribute = FindAttribute(node, name);
  return attribute && i < attribute->ints_size() ? attribute->ints(i) : 0;
}

// The graph that takes the place of nodes with bodies.
class Inliner {
 public:
  explicit Inliner(onnx::ModelProto& model)
      : model_(model), graph_(*model.mutable_graph()), constants_(graph_), names_(model) {}

  bool Run() {
    bool any = false;
    for (const auto& node : graph_.node()) {
      const bool inlined = (IsOperator(node, "If") && Branch(node)) ||
                           (IsOperator(node, "Loop") && Loop(node)) ||
                           (IsOperator(node, "Scan") && Scan(node));
      if (!inlined) *nodes_.Add() = node;
      any |= inlined;
    }
    if (!any) return false;
    for (const auto& tensor : initializers_) *graph_.add_initializer() = tensor;
    graph_.mutable_node()->Swap(&nodes_);
    return true;
  }

 private:
  bool Branch(const onnx::NodeProto& node) {
    if (node.input_size() != 1) return false;
    const auto condition = constants_.Ints(node.input(0));
    if (!condition || condition->size() != 1) return false;
    const auto* branch = FindAttribute(node, (*condition)[0] != 0 ? "then_branch" : "else_branch");
    if (!branch || branch->g().output_size() < node.output_size()) return false;
    Keep(node, Copy(branch->g(), {}, TakeInitialisers(branch->g())));
    return true;
  }

  bool Loop(const onnx::NodeProto& node) {
    const auto* attribute = FindAttribute(node, "body");
    if (!attribute || node.input_size() < 2) return false;
    const onnx::GraphProto& body = attribute->g();
    const int carried = node.input_size() - 2, stacked = node.output_size() - carried;
    const auto trips = constants_.Ints(node.input(0));
    if (!trips || trips->size() != 1 || body.input_size() != carried + 2 || stacked < 0 ||
        body.output_size() != 1 + carried + stacked)
      return false;
    if (!GoesOn(node, body) || !IsSmall(body, (*trips)[0], stacked)) return false;
    Names state(node.input().begin() + 2, node.input().end());
    std::vector<Names> slices(stacked);
    const Renaming parameters = TakeInitialisers(body);
    for (int64_t trip = 0; trip < (*trips)[0]; ++trip) {
      Names arguments = {Constant(onnx::TensorProto::INT64, trip), Constant(onnx::TensorProto::BOOL, 1)};
      arguments.insert(arguments.end(), state.begin(), state.end());
      const Names results = Copy(body, arguments, parameters);
      state.assign(results.begin() + 1, results.begin() + 1 + carried);
      for (int i = 0; i < stacked; ++i) slices[i].push_back(results[1 + carried + i]);
    }
    Keep(node, state);
    for (int i = 0; i < stacked; ++i) Stack(slices[i], 0, node.output(carried + i));
    return true;
  }

  // The condition is true at the start, where it is given, and the body leaves it so.
  bool GoesOn(const onnx::NodeProto& node, const onnx::GraphProto& body) const {
    if (!node.input(1).empty()) {
      const auto start = constants_.Ints(node.input(1));
      if (!start || start->size() != 1 || (*start)[0] == 0) return false;
    }
    const ConstantValues inner(body);
    std::string condition = body.output(0).name();
    for (int i = body.node_size() - 1; i >= 0; --i) {
      const onnx::NodeProto& step = body.node(i);
      if ((step.op_type() == "Identity" || step.op_type() == "Cast") && step.output(0) == condition)
        condition = step.input(0);
    }
    if (condition == body.input(1).name()) return true;
    const auto value = inner.Contains(condition) ? inner.Ints(condition) : constants_.Ints(condition);
    return value && value->size() == 1 && (*value)[0] != 0;
  }

  bool Scan(const onnx::NodeProto& node) {
    const auto* attribute = FindAttribute(node, "body");
    const int inputs = static_cast<int>(IntAttributeOr(node, "num_scan_inputs", 0));
    const int carried = node.input_size() - inputs, stacked = node.output_size() - carried;
    if (!attribute || inputs < 1 || carried < 0 || stacked < 0) return false;
    const onnx::GraphProto& body = attribute->g();
    if (body.input_size() != node.input_size() || body.output_size() != node.output_size()) return false;
    if (infos_.empty()) infos_ = InferShapes(model_);
    const int64_t trips = KnownExtent(infos_, node.input(carried), IntOf(node, "scan_input_axes", 0));
    if (!IsSmall(body, trips, stacked)) return false;
    const Renaming parameters = TakeInitialisers(body);
    Names state(node.input().begin(), node.input().begin() + carried);
    std::vector<Names> slices(stacked);
    for (int64_t trip = 0; trip < trips; ++trip) {
      Names arguments = state;
      for (int i = 0; i < inputs; ++i) {
        const int64_t place = IntOf(node, "scan_input_directions", i) == 0 ? trip : trips - 1 - trip;
        arguments.push_back(
            Slice(node.input(carried + i), IntOf(node, "scan_input_axes", i), place, node.name()));
      }
      const Names results = Copy(body, arguments, parameters);
      state.assign(results.begin(), results.begin() + carried);
      for (int i = 0; i < stacked; ++i) slices[i].push_back(results[carried + i]);
    }
    Keep(node, state);
    for (int i = 0; i < stacked; ++i) {
      if (IntOf(node, "scan_output_directions", i) != 0) std::ranges::reverse(slices[i]);
      Stack(slices[i], IntOf(node, "scan_output_axes", i), node.output(carried + i));
    }
    return true;
  }

  static bool IsSmall(const onnx::GraphProto& body, int64_t trips, int stacked) {
    if (trips < 0 || (trips == 0 && stacked > 0)) return false;  // nothing to stack
    return trips <= kMostNodes / std::max(body.node_size(), 1);
  }

  // The body's initialisers become the graph's, once for all trips; what they are called now.
  Renaming TakeInitialisers(const onnx::GraphProto& body) {
    Renaming renaming;
    for (const auto& tensor : body.initializer()) {
      renaming[tensor.name()] = names_.Fresh(tensor.name());
      initializers_.push_back(tensor);
      initializers_.back().set_name(renaming[tensor.name()]);
    }
    return renaming;
  }

  // The nodes of the body, with names of their own for what they make and `arguments` for its inputs; what
  // its outputs are called now.
  Names Copy(const onnx::GraphProto& body, const Names& arguments, Renaming renaming) {
    for (int i = 0; i < std::ssize(arguments); ++i) renaming[body.input(i).name()] = arguments[i];
    for (const auto& node : body.node())
      for (const auto& output : node.output())
        if (!output.empty()) renaming[output] = names_.Fresh(output);
    for (const auto& node : body.node()) {
      *nodes_.Add() = node;
      Rename(*nodes_.rbegin(), renaming);
    }
    Names results;
    for (const auto& output : body.output()) {
      results.push_back(output.name());
      Rename(results.back(), renaming);
    }
    return results;
  }

  void Keep(const onnx::NodeProto& node, const Names& results) {
    for (int i = 0; i < std::min<int>(node.output_size(), static_cast<int>(results.size())); ++i)
      if (!node.output(i).empty()) AddNode(nodes_, "Identity", {results[i]}, node.output(i));
  }

  std::string Constant(int32_t type, int64_t value) {
    const std::string name = names_.Fresh("trip");
    AddConstant(nodes_, type, {}, {value}, name);
    return name;
  }

  std::string Axes(int64_t axis) {
    const std::string name = names_.Fresh("axes");
    AddConstant(nodes_, onnx::TensorProto::INT64, {1}, {axis}, name);
    return name;
  }

  std::string Slice(const std::string& tensor, int64_t axis, int64_t place, const std::string& stem) {
    const std::string name = names_.Fresh(stem + "_slice");
    SetInt(AddNode(nodes_, "Gather", {tensor, Constant(onnx::TensorProto::INT64, place)}, name), "axis",
           axis);
    return name;
  }

  void Stack(const Names& slices, int64_t axis, const std::string& output) {
    if (output.empty()) return;
    const std::string axes = Axes(axis);
    Names unsqueezed;
    for (const std::string& slice : slices) {
      unsqueezed.push_back(names_.Fresh(slice));
      AddNode(nodes_, "Unsqueeze", {slice, axes}, unsqueezed.back());
    }
    SetInt(AddNode(nodes_, "Concat", unsqueezed, output), "axis", axis);
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  const ConstantValues constants_;
  GraphNames names_;
  RawNodes nodes_;
  std::vector<onnx::TensorProto> initializers_;
  TensorInfos infos_;
};

}  // namespace

bool InlineBodies(onnx::ModelProto& model) { return Inliner(model).Run(); }

}  // namespace ort_ed
