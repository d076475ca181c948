#include "trainer/passes/fuse_elementwise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trainer/graph/graph_names.h"
#include "trainer/graph/infer_shapes.h"
#include "trainer/kernels/native/elementwise.h"
#include "trainer/kernels/ops/cpu_kernel_domain.h"
#include "trainer/passes/use_cpu_kernels.h"

namespace ort_ed {
namespace {

constexpr size_t kFewestNodes = 3;

constexpr Extent kOne = {.value = 1, .symbol = {}};

std::optional<Extent> LengthOfVector(const TensorInfos& infos, const std::string& tensor) {
  const auto found = infos.find(tensor);
  if (found == infos.end() || found->second.type != onnx::TensorProto::FLOAT || !found->second.has_rank)
    return {};
  const TensorInfo& info = found->second;
  if (info.rank() > 1) return {};
  return info.rank() == 0 ? kOne : info.shape[0];
}

// The greatest number, or a symbol where no number is great.
std::optional<Extent> LongestVector(const onnx::GraphProto& graph, const TensorInfos& infos) {
  std::optional<Extent> longest;
  for (const auto& node : graph.node()) {
    if (!FindElementwiseOp(node.op_type()) || !node.domain().empty()) continue;
    const std::optional<Extent> length = LengthOfVector(infos, node.output(0));
    if (!length) continue;
    if (length->known() ? length->value >= std::max(kShortestFused, longest ? longest->value : 0)
                        : !longest && !length->symbol.empty())
      longest = length;
  }
  return longest;
}

// The nodes of a graph in three groups, in an order in which they can run: what does not need the fused node,
// the members of the fused node, and what needs its results.
struct Grouping {
  Grouping(const onnx::GraphProto& graph, const TensorInfos& infos, const Extent& length) {
    std::set<std::string> inside, after_fused;
    for (const auto& node : graph.node()) {
      const auto needs = [&](const std::set<std::string>& tensors) {
        return std::ranges::any_of(TensorsRead(node), [&](const auto& t) { return tensors.count(t) > 0; });
      };
      const bool tainted = needs(after_fused);
      const bool member = !tainted && CanJoin(node, infos, length);
      auto& group = member ? members : tainted || needs(inside) ? after : before;
      group.push_back(&node);
      auto& made = member ? inside : after_fused;
      if (&group == &before) continue;
      made.insert(node.output().begin(), node.output().end());
    }
  }

  static bool CanJoin(const onnx::NodeProto& node, const TensorInfos& infos, const Extent& length) {
    if (!node.domain().empty() || !FindElementwiseOp(node.op_type())) return false;
    const auto is = [&](const std::string& tensor, const Extent& wanted) {
      const std::optional<Extent> found = LengthOfVector(infos, tensor);
      return found && SameExtent(*found, wanted);
    };
    return is(node.output(0), length) && std::ranges::all_of(node.input(), [&](const std::string& input) {
             return is(input, length) || is(input, kOne);
           });
  }

  std::vector<const onnx::NodeProto*> before, members, after;
};

onnx::AttributeProto& AddAttribute(onnx::NodeProto& node, const char* name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

// Tensors that the fused node must hand out: those that others use.
std::set<std::string> TensorsWanted(const onnx::GraphProto& graph, const Grouping& groups) {
  std::set<std::string> wanted;
  for (const auto& output : graph.output()) wanted.insert(output.name());
  for (const auto* node : groups.after) {
    for (const auto& tensor : TensorsRead(*node)) wanted.insert(tensor);
  }
  return wanted;
}

onnx::NodeProto FusedNode(const onnx::GraphProto& graph, const Grouping& groups, const Extent& length) {
  onnx::NodeProto fused;
  fused.set_name(groups.members.front()->name() + "/fused");
  fused.set_op_type("Elementwise");
  fused.set_domain(kCpuKernelDomain);
  std::set<std::string> made;
  std::map<std::string, int64_t> number;
  for (const auto* node : groups.members) made.insert(node->output(0));
  for (const auto* node : groups.members) {
    for (const auto& input : node->input()) {
      if (!made.count(input) && number.emplace(input, fused.input_size()).second) fused.add_input(input);
    }
  }
  AddAttribute(fused, "size", onnx::AttributeProto::INT).set_i(length.value);
  onnx::AttributeProto& program = AddAttribute(fused, "program", onnx::AttributeProto::INTS);
  onnx::AttributeProto& results = AddAttribute(fused, "results", onnx::AttributeProto::INTS);
  const std::set<std::string> wanted = TensorsWanted(graph, groups);
  for (const auto* node : groups.members) {
    program.add_ints(static_cast<int64_t>(*FindElementwiseOp(node->op_type())));
    program.add_ints(number.at(node->input(0)));
    program.add_ints(number.at(node->input(node->input_size() - 1)));
    const auto value = static_cast<int64_t>(number.size());
    number[node->output(0)] = value;
    if (!wanted.count(node->output(0))) continue;
    results.add_ints(value);
    fused.add_output(node->output(0));
  }
  return fused;
}

}  // namespace

void FuseElementwise(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const TensorInfos infos = InferShapesOfArrays(model);
  const std::optional<Extent> length = LongestVector(graph, infos);
  if (!length) return;
  const Grouping groups(graph, infos, *length);
  if (groups.members.size() < kFewestNodes) return;
  const onnx::NodeProto fused = FusedNode(graph, groups, *length);
  if (fused.input_size() > kMaxElementwiseInputs || fused.output_size() > kMaxElementwiseOutputs) return;

  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (const auto* node : groups.before) *nodes.Add() = *node;
  *nodes.Add() = fused;
  for (const auto* node : groups.after) *nodes.Add() = *node;
  graph.mutable_node()->Swap(&nodes);
  ImportCpuKernels(model);
}

}  // namespace ort_ed
